/** Reads text files, and describes errors of the file system. */
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { NotUtf8Error, utf8Text } from "../adapters/system/utf8-text.ts";
import { type ExitError, environmentError, usageError } from "./exit-error.ts";

const REMEDIES: Readonly<Record<string, readonly [string, string]>> = {
  ENOENT: ["there is no such file", "check the path"],
  EACCES: ["permission denied", "check who may read and write it"],
  EPERM: ["permission denied", "check who may read and write it"],
  EISDIR: ["it is a directory", "name a file in it"],
  ENOTDIR: ["a part of the path is no directory", "check the path"],
  ENOSPC: ["the disk is full", "make room and run it again"],
  EDQUOT: ["the disk quota is used up", "make room and run it again"],
  EROFS: ["the file system is read-only", "name a directory that can be written"],
  EMFILE: ["too many files are open", "raise the limit of open files"],
};

/** A file to be written need not exist, but its directory must. */
const WRITE_REMEDIES: typeof REMEDIES = {
  ENOENT: ["its directory does not exist", "create the directory, or name another"],
};

/**
 * Describes an error of the file system in a sentence: what could not be done to which file, and
 * how to fix it.
 */
export function fileError(doing: "read" | "write", path: string, error: unknown): ExitError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const message = error instanceof Error ? error.message : String(error);
  const explanation = (doing === "write" ? WRITE_REMEDIES[code] : undefined) ?? REMEDIES[code];
  const [what, remedy] = explanation ?? [message, "check the path and the disk"];
  return environmentError(`${path}: cannot ${doing} it: ${what}; ${remedy}`, error);
}

export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error && "syscall" in error;
}

/** @throws ExitError: the file cannot be read, or is not UTF-8. */
export function readTextFile(path: string): Promise<string> {
  return decodeText(path, () => readFile(path));
}

/** Reads stdin to its end. @throws ExitError: it cannot be read, or is not UTF-8. */
export function readStdin(input: NodeJS.ReadableStream): Promise<string> {
  return decodeText("stdin", () => buffer(input));
}

async function decodeText(path: string, read: () => Promise<Uint8Array>): Promise<string> {
  try {
    return utf8Text(await read());
  } catch (error) {
    if (error instanceof NotUtf8Error) throw usageError(`${path}: ${error.message}`);
    throw fileError("read", path, error);
  }
}
