/**
 * Reads a YAML 1.2 file into plain values, with the position of each. Only JSON values are
 * accepted. Duplicate keys, unknown tags and numbers that would lose digits are problems; all are
 * listed.
 */
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  type Scalar,
  type YAMLMap,
} from "yaml";
import { type PathSegment, policyPath } from "../../core/policy/path.ts";
import type { PolicyProblem, Positions } from "../../core/policy/problem.ts";
import { yamlRemedy } from "../system/yaml-remedy.ts";

export type PolicyFile = { readonly name: string; readonly text: string };

/** A block as written, at top level or under `policy_engine`. */
export type WrittenBlock = {
  readonly name: string;
  readonly value: unknown;
  readonly file: string;
  readonly line: number;
  readonly column: number;
};

export type ReadPolicy = {
  readonly blocks: WrittenBlock[];
  /** Where each path was written first. */
  readonly positions: Positions;
  /** Where later files wrote a path again, by `laterKey`. */
  readonly later: Positions;
  readonly problems: PolicyProblem[];
};

export function laterKey(file: string, path: string): string {
  return `${file}\n${path}`;
}

const FILE_BYTES_MAX = 8 * 1024 * 1024;
/** Limit of the values of a file with anchors expanded, against files that multiply by anchors. */
const VALUES_MAX = 200_000;
const DEPTH_MAX = 100;

type Reader = {
  readonly file: string;
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
  readonly into: ReadPolicy;
  values: number;
};

type Span = { readonly range?: readonly number[] | null };

/** The problem of a file whose root is no map. */
type RootText = { readonly message: string; readonly remedy: string };

const POLICY_ROOT: RootText = {
  message: "a policy is a map of blocks",
  remedy: "start with `policy_engine:` or a block such as `tools:`",
};

/** Adds a file's blocks, positions and problems to those of earlier files. */
export function readYaml(file: PolicyFile, into: ReadPolicy, rootText = POLICY_ROOT): void {
  if (file.text.length > FILE_BYTES_MAX) {
    const problem = { message: "is larger than 8 MiB", remedy: "split the policy into files" };
    into.problems.push({ file: file.name, line: 1, column: 1, path: "", ...problem });
    return;
  }
  const lines = new LineCounter();
  const document = parseDocument(file.text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: "error",
  });
  const reader: Reader = { file: file.name, document, lines, into, values: 0 };
  for (const error of [...document.errors, ...document.warnings]) {
    addProblem(reader, error.pos[0], [], yamlMessage(error.message), yamlRemedy(error.code));
  }
  if (document.errors.length > 0) return;
  readRoot(reader, rootText);
}

function readRoot(reader: Reader, text: RootText): void {
  const root: unknown = reader.document.contents;
  if (!isMap(root)) {
    const message = root === null ? "the file is empty" : text.message;
    addProblem(reader, offsetOf(root), [], message, text.remedy);
    return;
  }
  for (const pair of uniquePairs(reader, root, [])) {
    if (pair.name === "policy_engine") readEngine(reader, pair);
    else readBlock(reader, pair);
  }
}

function readEngine(reader: Reader, pair: MapEntry): void {
  if (isMap(pair.value)) {
    for (const inner of uniquePairs(reader, pair.value, [])) readBlock(reader, inner);
  } else if (!isEmpty(pair.value)) {
    addProblem(reader, pair.offset, [], "`policy_engine` is a map of blocks", "indent its blocks");
  }
}

type MapEntry = { readonly name: string; readonly value: unknown; readonly offset: number };

function readBlock(reader: Reader, pair: MapEntry): void {
  const path = pair.name === "retries" ? ["tools", "retries"] : [pair.name];
  const value = readEntry(reader, pair, path);
  const { line, col } = reader.lines.linePos(pair.offset);
  reader.into.blocks.push({ name: pair.name, value, file: reader.file, line, column: col });
}

function readEntry(reader: Reader, pair: MapEntry, path: readonly PathSegment[]): unknown {
  recordPosition(
    reader,
    path,
    pair.offset,
    isEmpty(pair.value) ? pair.offset : offsetOf(pair.value),
  );
  return readValue(reader, pair.value, path);
}

function readValue(reader: Reader, node: unknown, path: readonly PathSegment[]): unknown {
  reader.values += 1;
  if (reader.values > VALUES_MAX || path.length > DEPTH_MAX) {
    if (reader.values <= VALUES_MAX + 1) {
      addProblem(reader, offsetOf(node), path, "is too deep or too large", "reduce its size");
      reader.values = VALUES_MAX + 2;
    }
    return null;
  }
  if (isAlias(node)) return readAlias(reader, node, path);
  if (isMap(node)) return readMap(reader, node, path);
  if (isSeq(node)) {
    return node.items.map((item, index) => {
      const inner = [...path, index];
      recordPosition(reader, inner, offsetOf(item), offsetOf(item));
      return readValue(reader, item, inner);
    });
  }
  return isScalar(node) ? readScalar(reader, node, path) : null;
}

function readAlias(reader: Reader, node: Alias, path: readonly PathSegment[]): unknown {
  const target = node.resolve(reader.document);
  if (target !== undefined) return readValue(reader, target, path);
  const message = `\`*${node.source}\` refers to no anchor above it`;
  addProblem(reader, offsetOf(node), path, message, "write the value out");
  return null;
}

function readMap(reader: Reader, map: YAMLMap, path: readonly PathSegment[]): unknown {
  const entries: [string, unknown][] = [];
  for (const pair of uniquePairs(reader, map, path)) {
    entries.push([pair.name, readEntry(reader, pair, [...path, pair.name])]);
  }
  return Object.fromEntries(entries);
}

function readScalar(reader: Reader, node: Scalar, path: readonly PathSegment[]): unknown {
  const { value } = node;
  if (typeof value !== "number") return value;
  if (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))) {
    return value;
  }
  addProblem(
    reader,
    offsetOf(node),
    path,
    `\`${node.source ?? String(value)}\` is a number that would lose digits`,
    "write it in quotes",
  );
  return null;
}

/** Returns the pairs of a map. Keys that are no plain text, and duplicates, are problems. */
function uniquePairs(reader: Reader, map: YAMLMap, path: readonly PathSegment[]): MapEntry[] {
  const seen = new Map<string, number>();
  const pairs: MapEntry[] = [];
  for (const item of map.items) {
    const pair = readKey(reader, item, path);
    if (pair === null) continue;
    const earlier = seen.get(pair.name);
    if (earlier === undefined) {
      seen.set(pair.name, pair.offset);
      pairs.push(pair);
      continue;
    }
    const { line } = reader.lines.linePos(earlier);
    const message = `\`${pair.name}\` is written twice, first in line ${line}`;
    addProblem(reader, pair.offset, [...path, pair.name], message, "keep one of the two");
  }
  return pairs;
}

function readKey(reader: Reader, item: Pair, path: readonly PathSegment[]): MapEntry | null {
  const { key } = item;
  const offset = offsetOf(key);
  if (!isScalar(key) || key.value === null || typeof key.value === "object") {
    addProblem(reader, offset, path, "a key must be text", "write a plain word or a quoted text");
    return null;
  }
  // Keys are taken as spelled: `1.0` and `yes` are names, not values.
  const name = typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
  if (name === "__proto__" || name === "<<") {
    addProblem(reader, offset, path, `\`${name}\` is not allowed as a key`, "write the keys out");
    return null;
  }
  return { name, value: item.value, offset };
}

function recordPosition(
  reader: Reader,
  path: readonly PathSegment[],
  keyOffset: number,
  valueOffset: number,
): void {
  const key = reader.lines.linePos(keyOffset);
  const value = reader.lines.linePos(valueOffset);
  const { file } = reader;
  const { positions, later } = reader.into;
  const at = policyPath(path);
  const first = positions.get(at)?.file ?? file;
  const position = {
    file,
    key: { line: key.line, column: key.col },
    value: { line: value.line, column: value.col },
  };
  if (first === file) positions.set(at, position);
  else later.set(laterKey(file, at), position);
}

function addProblem(
  reader: Reader,
  offset: number,
  path: readonly PathSegment[],
  message: string,
  remedy: string,
): void {
  const { line, col } = reader.lines.linePos(offset);
  const at = { file: reader.file, line: Math.max(1, line), column: Math.max(1, col) };
  reader.into.problems.push({ ...at, path: policyPath(path), message, remedy });
}

function offsetOf(node: unknown): number {
  return (node as Span | null)?.range?.[0] ?? 0;
}

function isEmpty(node: unknown): boolean {
  return node === null || (isScalar(node) && node.value === null && (node.source ?? "") === "");
}

/** Limit of a message: the library quotes its input, which may be a whole binary file. */
const SENTENCE_CHARACTERS = 160;

/** Rewrites the library's sentence in our style: lower case, without a full stop. */
function yamlMessage(message: string): string {
  const whole = (message.split("\n", 1)[0] ?? message).replace(/; please use YAML.*$/, "");
  const sentence =
    whole.length > SENTENCE_CHARACTERS ? `${whole.slice(0, SENTENCE_CHARACTERS)}…` : whole;
  return `not YAML: ${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/, "");
}
