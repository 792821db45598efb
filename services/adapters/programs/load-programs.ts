/** The programs that the gate knows: from one file in the package, from YAML files in a checkout. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compilePrograms } from "../../commands/programs/compile-programs.ts";
import type { ProgramSpecs, Programs } from "../../commands/programs/program-spec.ts";
import { readProgramFiles } from "./read-programs.ts";

/** Written by the build. */
const BUILT = new URL("../../commands/programs.json", import.meta.url);
const SOURCES = new URL("../../commands/programs/", import.meta.url);

let loaded: Programs | undefined;

/**
 * The tables of all programs; read when they are asked for, once in a process.
 * @throws ProgramFileError a YAML file of a checkout has a fault
 */
export function loadPrograms(): Programs {
  loaded ??= compilePrograms(readSpecs());
  return loaded;
}

function readSpecs(): ProgramSpecs {
  if (!existsSync(BUILT)) return readProgramFiles(fileURLToPath(SOURCES));
  return JSON.parse(readFileSync(BUILT, "utf8")) as ProgramSpecs;
}
