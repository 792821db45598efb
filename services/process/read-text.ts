import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { NotUtf8Error, utf8Text } from "../adapters/system/utf8-text.ts";
import { usageError } from "./exit-error.ts";
import { fileError } from "./file-error.ts";

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
