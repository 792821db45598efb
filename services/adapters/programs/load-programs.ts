/** The programs that the gate knows, from the file that `npm run programs` writes. */
import { readFileSync } from "node:fs";
import { compileProgramsOnDemand } from "../../commands/programs/compile-programs.ts";
import type { ProgramSpecs, Programs } from "../../commands/programs/program-spec.ts";

/** A test holds that it is current and has no fault, so that no start has to. */
const TABLES = new URL("../../commands/programs.json", import.meta.url);

let programs: Programs | undefined;

/** The tables of all programs; read when they are asked for, once in a process. */
export function loadPrograms(): Programs {
  programs ??= compileProgramsOnDemand(JSON.parse(readFileSync(TABLES, "utf8")) as ProgramSpecs);
  return programs;
}
