/** Reads the files that describe programs, and says where a fault in them is. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import {
  compilePrograms,
  ProgramSpecError,
} from "../../services/commands/programs/compile-programs.ts";
import type { ProgramSpec, ProgramSpecs } from "../../services/commands/programs/program-spec.ts";
import { programFile } from "./program-schema.ts";

type Document = ReturnType<typeof parseDocument>;

/** A file of programs that cannot be used: `git.yaml:12: program git > log: …`. */
export class ProgramFileError extends Error {
  override readonly name = "ProgramFileError";
}

/**
 * Every program of the YAML files in a directory, by name.
 * @throws ProgramFileError at the first fault, with file, line, program and key, or where there is no file
 */
export function readProgramFiles(directory: string): ProgramSpecs {
  const all = new Map<string, ProgramSpec>();
  const names = readdirSync(directory).filter((name) => name.endsWith(".yaml"));
  if (names.length === 0) throw new ProgramFileError(`no file of programs lies in ${directory}`);
  for (const name of names.sort()) {
    const specs = readProgramFile(name, readFileSync(join(directory, name), "utf8"));
    for (const [program, spec] of Object.entries(specs)) {
      if (all.has(program)) {
        throw new ProgramFileError(
          `${name}: program ${program} is in another file too: remove one`,
        );
      }
      all.set(program, spec);
    }
  }
  return Object.fromEntries(all);
}

/** @throws ProgramFileError at the first fault */
export function readProgramFile(name: string, text: string): ProgramSpecs {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, logLevel: "error" });
  const fail = (offset: number, problem: string): never => {
    throw new ProgramFileError(`${name}:${lines.linePos(offset).line}: ${problem}`);
  };
  const [error] = document.errors;
  if (error !== undefined) return fail(error.pos[0], error.message.split("\n")[0] ?? "");
  const parsed = programFile.safeParse(document.toJS());
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0] as z.core.$ZodIssue;
    const keys = path.map(String);
    return fail(offsetOf(document, keys), `program ${keys.join(" > ")}: ${message}`);
  }
  try {
    const specs = parsed.data as ProgramSpecs;
    compilePrograms(specs);
    return specs;
  } catch (problem) {
    if (!(problem instanceof ProgramSpecError)) throw problem;
    return fail(offsetOf(document, problem.keys), problem.message);
  }
}

/** Where the last of the keys that are found stands; keys in between may be left out. */
function offsetOf(document: Document, keys: readonly string[]): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const key of keys) {
    const found = findKey(node, key);
    if (found === null) continue;
    offset = found.offset;
    node = found.value;
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
    const found = findKey(pair.value, key);
    if (found !== null) return found;
  }
  return null;
}
