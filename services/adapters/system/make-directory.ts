import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a directory and those above it that are not there; does nothing where it is there. Node's own `recursive` never
 * returns where the system knows no file of that name below a directory that is there, as in `/proc` (seen on Node 20.20).
 *
 * @throws the system's error, of the directory that could not be made.
 */
export function makeDirectory(path: string, mode?: number): void {
  if (isDirectory(path)) return;
  const parent = dirname(path);
  if (!existsSync(parent)) makeDirectory(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if (!isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
