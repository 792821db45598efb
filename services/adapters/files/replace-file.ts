/** Reads and replaces small files as a whole: readers see the old text or the new one. */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { FatalError } from "../../runtime/errors.ts";
import { makeDirectory } from "../system/make-directory.ts";

/** Null where the file does not exist. @throws FatalError where it cannot be read. */
export function readWhole(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if ((cause as { code?: string }).code === "ENOENT") return null;
    throw new FatalError("unexpected", `${path} cannot be read: check its permissions`, { cause });
  }
}

/** The text is on disk when the function returns. Creates the directory if it does not exist. */
export function replaceFile(path: string, text: string): void {
  makeDirectory(dirname(path));
  const aside = `${path}.tmp`;
  const handle = openSync(aside, "w");
  try {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += writeSync(handle, bytes, at);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(aside, path);
}
