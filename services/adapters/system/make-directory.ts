import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates a directory and its missing parents; does nothing where it exists. Node's own `recursive`
 * never returns where the system cannot create the directory below an existing one, as in `/proc`
 * (seen on Node 20.20).
 *
 * @throws the system's error of the directory that could not be created.
 */
export function makeDirectory(path: string, mode?: number): void {
  if (isDirectory(path)) return;
  const parent = dirname(path);
  if (!existsSync(parent)) makeDirectory(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
