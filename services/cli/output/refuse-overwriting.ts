/** Opening a result empties its file: what must not be lost so is refused before. */
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { usageError } from "../../process/exit-error.ts";

/** @throws ExitError: `out` is one of the files that the command reads. */
export function refuseOverwriting(out: string | undefined, inputs: readonly string[]): void {
  if (out === undefined || !inputs.some((path) => isSameFile(path, out))) return;
  throw usageError(`--out ${out}: is read by this command and would be lost; name another file`);
}

/** Under one path, or under two by a link; bigint, as an inode of 64 bits is cut otherwise. */
function isSameFile(path: string, other: string): boolean {
  if (resolve(path) === resolve(other)) return true;
  const [one, two] = [path, other].map((at) =>
    statSync(at, { bigint: true, throwIfNoEntry: false }),
  );
  // A terminal is one device to read and to write, and loses nothing.
  if (one === undefined || two === undefined || !one.isFile()) return false;
  return one.dev === two.dev && one.ino === two.ino;
}

/** For what its owner goes on writing by hand. @throws ExitError: `out` is there already. */
export function refuseExisting(out: string | undefined): void {
  if (out === undefined || !existsSync(out)) return;
  throw usageError(`${out} is there already: name another file, or remove it`);
}
