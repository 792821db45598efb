/** Reads a configuration file, YAML 1.2 or JSON, into plain values with the position of each. */
import { readFileSync } from "node:fs";
import { isMap, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import { NotUtf8Error, utf8Text } from "../system/utf8-text.ts";
import { yamlRemedy } from "../system/yaml-remedy.ts";
import type { ConfigProblem } from "./config-problem.ts";

const FILE_BYTES_MAX = 1024 * 1024;

export type ConfigFile = {
  readonly values: Readonly<Record<string, unknown>>;
  /** The location of each key, `file:line:column`, by its dotted path. */
  readonly locations: ReadonlyMap<string, string>;
  readonly problems: readonly ConfigProblem[];
};

type Span = { readonly range?: readonly number[] | null };

type Reader = {
  readonly file: string;
  readonly lines: LineCounter;
  readonly locations: Map<string, string>;
  readonly problems: ConfigProblem[];
};

export function readConfigFile(file: string): ConfigFile {
  let text: string;
  try {
    text = utf8Text(readFileSync(file));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const remedy = error instanceof NotUtf8Error ? "save it as UTF-8" : "check the path";
    const problem = { message: `cannot be read: ${why}`, remedy: remedy };
    return { values: {}, locations: new Map(), problems: [{ where: file, key: "", ...problem }] };
  }
  return parseConfigFile(file, text);
}

function parseConfigFile(file: string, text: string): ConfigFile {
  const lines = new LineCounter();
  const reader: Reader = { file, lines, locations: new Map(), problems: [] };
  if (text.length > FILE_BYTES_MAX) {
    addProblem(reader, 0, "", "is larger than 1 MiB", "use the file of a Callgate configuration");
    return { ...reader, values: {} };
  }
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  for (const error of [...document.errors, ...document.warnings]) {
    const [first = ""] = error.message.split("\n");
    addProblem(reader, error.pos[0], "", `not YAML: ${first}`, yamlRemedy(error.code));
  }
  const root: unknown = document.contents;
  if (reader.problems.length > 0 || root === null) return { ...reader, values: {} };
  if (!isMap(root)) {
    addProblem(reader, 0, "", "is not a map of keys", "begin with a key such as `kafka:`");
    return { ...reader, values: {} };
  }
  return { ...reader, values: plainValue(reader, root, "") as Record<string, unknown> };
}

function plainValue(reader: Reader, node: unknown, path: string): unknown {
  if (isMap(node)) {
    const entries = node.items.flatMap(({ key, value }) => {
      const name = isScalar(key) && typeof key.value === "string" ? key.value : undefined;
      if (name === undefined || name === "__proto__") {
        addProblem(reader, offsetOf(key), path, "has a key that is not plain text", "correct it");
        return [];
      }
      const inner = path === "" ? name : `${path}.${name}`;
      reader.locations.set(inner, locate(reader, offsetOf(key)));
      return [[name, plainValue(reader, value, inner)] as const];
    });
    return Object.fromEntries(entries);
  }
  if (isSeq(node)) {
    return node.items.map((item, index) => {
      const inner = `${path}.${index}`;
      reader.locations.set(inner, locate(reader, offsetOf(item)));
      return plainValue(reader, item, inner);
    });
  }
  if (isScalar(node)) return node.value;
  if (node !== null) {
    addProblem(reader, offsetOf(node), path, "refers to an anchor", "write the value out");
  }
  return null;
}

function addProblem(
  reader: Reader,
  offset: number,
  key: string,
  message: string,
  remedy: string,
): void {
  reader.problems.push({ where: locate(reader, offset), key, message, remedy });
}

function locate({ file, lines }: Reader, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `${file}:${Math.max(1, line)}:${Math.max(1, col)}`;
}

function offsetOf(node: unknown): number {
  return (node as Span | null)?.range?.[0] ?? 0;
}
