/** Opening a result file empties it, so files that must not be lost are rejected first. */
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { usageError } from "../../process/exit-error.ts";

/** @throws ExitError: `out` is one of the files that the command reads. */
export function refuseOverwriting(out: string | undefined, inputs: readonly string[]): void {
  if (out === undefined || !inputs.some((path) => isSameFile(path, out))) return;
  throw usageError(`--out ${out}: is read by this command and would be lost; name another file`);
}

/** The same path, or two links to one file; bigint, because a number cannot hold a 64-bit inode. */
function isSameFile(path: string, other: string): boolean {
  if (resolve(path) === resolve(other)) return true;
  const [one, two] = [path, other].map((at) =>
    statSync(at, { bigint: true, throwIfNoEntry: false }),
  );
  // A terminal is one device for reading and writing, and loses nothing.
  if (one === undefined || two === undefined || !one.isFile()) return false;
  return one.dev === two.dev && one.ino === two.ino;
}

/** For results that their owner edits by hand. @throws ExitError: `out` exists already. */
export function refuseExisting(out: string | undefined): void {
  if (out === undefined || !existsSync(out)) return;
  throw usageError(`${out} is there already: name another file, or remove it`);
}
