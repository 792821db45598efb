/** The tables of programs, from the file that `npm run programs` writes. */
import { readFileSync } from "node:fs";
import type { Program, Programs } from "../../commands/programs/program.ts";
import { compileProgram, splitNames } from "./compile-program.ts";
import { type ProgramTexts, programSchema } from "./program-schema.ts";

/** A test holds that it is current and has no fault, so that no start has to. */
const TABLES = new URL("../../commands/programs.json", import.meta.url);

let loaded: Programs | undefined;

/** The tables of all programs; the file is read once in a process, when it is first asked for. */
export function loadPrograms(): Programs {
  loaded ??= openPrograms(JSON.parse(readFileSync(TABLES, "utf8")) as ProgramTexts);
  return loaded;
}

/** A program is compiled when it is first asked for, since a policy and its calls use few of them. */
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
