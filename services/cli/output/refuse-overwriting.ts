/** Opening a result empties its file: what must not be lost so is refused before. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { usageError } from "./cli-error.ts";

/** @throws CliError: `out` is one of the files that the command reads. */
export function refuseOverwriting(out: string | undefined, inputs: readonly string[]): void {
  if (out === undefined || !inputs.some((path) => resolve(path) === resolve(out))) return;
  throw usageError(`--out ${out}: is read by this command and would be lost; name another file`);
}

/** For what its owner goes on writing by hand. @throws CliError: `out` is there already. */
export function refuseExisting(out: string | undefined): void {
  if (out === undefined || !existsSync(out)) return;
  throw usageError(`${out} is there already: name another file, or remove it`);
}
