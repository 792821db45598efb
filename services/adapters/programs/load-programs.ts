/** The tables of programs: from one file in the package, from YAML files in a checkout. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Program, Programs } from "../../commands/programs/program.ts";
import { compileProgram, splitNames } from "./compile-program.ts";
import { type ProgramTexts, programSchema } from "./program-schema.ts";
import { readProgramFiles } from "./read-programs.ts";

/** Written by the build. */
const BUILT = new URL("../../commands/programs.json", import.meta.url);
const SOURCES = new URL("../../commands/programs/", import.meta.url);

let loaded: Programs | undefined;

/**
 * The tables of all programs; the files are read once in a process.
 * @throws ProgramFileError a YAML file of a checkout has a fault
 */
export function loadPrograms(): Programs {
  loaded ??= openPrograms(readTexts());
  return loaded;
}

/** Compiles a program when it is asked for: to compile all takes longer than to start a gate. */
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

function readTexts(): ProgramTexts {
  if (!existsSync(BUILT)) return readProgramFiles(fileURLToPath(SOURCES));
  return JSON.parse(readFileSync(BUILT, "utf8")) as ProgramTexts;
}
