/** Reads the files that describe programs, and reports the line of a fault. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import {
  compileProgram,
  ProgramFault,
  splitNames,
} from "../../services/adapters/programs/compile-program.ts";
import {
  type ProgramSpec,
  type ProgramText,
  type ProgramTexts,
  programFile,
} from "../../services/adapters/programs/program-schema.ts";

type Document = ReturnType<typeof parseDocument>;

/** A fault in a file of programs: `git.yaml:12: program git > log: …`. */
export class ProgramFileError extends Error {
  override readonly name = "ProgramFileError";
}

/**
 * Every program of the YAML files in a directory, as written there.
 * @throws ProgramFileError at the first fault, with file, line, program and key, or where there is no file
 */
export function readProgramFiles(directory: string): ProgramTexts {
  const all = new Map<string, ProgramText>();
  const names = readdirSync(directory).filter((name) => name.endsWith(".yaml"));
  if (names.length === 0) throw new ProgramFileError(`${directory} has no YAML file of programs`);
  const taken = new Set<string>();
  for (const name of names.sort()) {
    const texts = readProgramFile(name, readFileSync(join(directory, name), "utf8"), taken);
    for (const [program, text] of Object.entries(texts)) all.set(program, text);
  }
  return Object.fromEntries(all);
}

/**
 * @param taken names of the programs of other files; the function adds those of this file
 * @throws ProgramFileError at the first fault
 */
export function readProgramFile(
  name: string,
  text: string,
  taken: Set<string> = new Set(),
): ProgramTexts {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, logLevel: "error" });
  const fail = (offset: number, problem: string): never => {
    throw new ProgramFileError(`${name}:${lines.linePos(offset).line}: ${problem}`);
  };
  const failAt = (keys: readonly string[], problem: string): never =>
    fail(offsetOf(document, keys), `program ${keys.join(" > ")}: ${problem}`);
  const [error] = document.errors;
  if (error !== undefined) return fail(error.pos[0], error.message.split("\n")[0] ?? "");
  const texts = document.toJS() as ProgramTexts;
  const parsed = programFile.safeParse(texts);
  const [issue] = parsed.error?.issues ?? [];
  if (issue !== undefined) {
    const keys = issue.path.filter((key) => typeof key === "string" && !STRUCTURE.has(key));
    failAt(keys.map(String), issue.message);
  }
  for (const [key, spec] of Object.entries(parsed.data ?? {})) {
    const names = splitNames(key, "|").flatMap((first) => [first, ...(spec.also ?? [])]);
    const twice = names.find((one) => taken.has(one));
    if (twice !== undefined) failAt([key], `${twice} is there twice`);
    for (const one of names) taken.add(one);
    const fault = findFault(spec, key);
    if (fault !== null) failAt([key, ...fault.keys], fault.message);
  }
  return texts;
}

function findFault(spec: ProgramSpec, name: string): ProgramFault | null {
  try {
    compileProgram(spec, name);
    return null;
  } catch (fault) {
    if (fault instanceof ProgramFault) return fault;
    throw fault;
  }
}

/** Keys that messages leave out, since the keys below them say more. */
const STRUCTURE: ReadonlySet<string> = new Set([
  ...["flags", "options", "values", "operands", "kind", "subcommands", "forms"],
]);

/** The position of the last key of the path that exists; keys in between may be missing. */
function offsetOf(document: Document, keys: readonly string[]): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const key of keys) {
    const match = findKey(node, key);
    if (match === null) continue;
    offset = match.offset;
    node = match.value;
  }
  return offset;
}

function findKey(node: unknown, key: string): { offset: number; value: unknown } | null {
  if (!isMap(node)) return null;
  for (const pair of node.items) {
    const text = isScalar(pair.key) ? String(pair.key.value) : "";
    if (text === key || text.split(/, */).includes(key)) {
      return { offset: isNode(pair.key) ? (pair.key.range?.[0] ?? 0) : 0, value: pair.value };
    }
  }
  for (const pair of node.items) {
    const match = findKey(pair.value, key);
    if (match !== null) return match;
  }
  return null;
}
