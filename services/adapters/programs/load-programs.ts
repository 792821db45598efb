/** Loads the tables of programs from the file that `npm run programs` writes. */
import { readFileSync } from "node:fs";
import type { Program, Programs } from "../../commands/programs/program.ts";
import { compileProgram, splitNames } from "./compile-program.ts";
import { type ProgramTexts, programSchema } from "./program-schema.ts";

/** A test checks that the file is current and valid, so a start need not. */
const TABLES = new URL("../../commands/programs.json", import.meta.url);

let loaded: Programs | undefined;

/** Returns the tables of all programs. A process reads the file once, on the first call. */
export function loadPrograms(): Programs {
  loaded ??= openPrograms(JSON.parse(readFileSync(TABLES, "utf8")) as ProgramTexts);
  return loaded;
}

/** Compiles each program on first use, since a policy and its calls use few of them. */
export function openPrograms(texts: ProgramTexts): Programs {
  const keys = new Map<string, { readonly key: string; readonly name: string }>();
  for (const [key, { also = [] }] of Object.entries(texts)) {
    for (const name of splitNames(key, "|"))
      for (const other of [name, ...also]) keys.set(other, { key, name });
  }
  const compiled = new Map<string, Program>();
  return {
    has: (name) => keys.has(name),
    get: (name) => {
      const entry = keys.get(name);
      const before = compiled.get(entry?.name ?? "");
      if (entry === undefined || before !== undefined) return before;
      const program = compileProgram(programSchema.parse(texts[entry.key]), entry.name);
      compiled.set(entry.name, program);
      return program;
    },
  };
}
