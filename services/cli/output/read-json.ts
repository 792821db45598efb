import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { NotUtf8Error, utf8Text } from "../../adapters/system/utf8-text.ts";
import { usageError } from "./cli-error.ts";
import { fileError } from "./file-error.ts";
import { placeOfJsonError } from "./json-problem.ts";

/** @throws CliError: unreadable file, or no JSON, with line and column. */
export async function readJsonFile(path: string): Promise<unknown> {
  return parseJson(await readTextFile(path), path);
}

/** @throws CliError: unreadable file, or one that is not UTF-8. */
export function readTextFile(path: string): Promise<string> {
  return textOf(path, () => readFile(path));
}

/** All that comes on stdin. @throws CliError: it cannot be read, or is not UTF-8. */
export function readStdin(input: NodeJS.ReadableStream): Promise<string> {
  return textOf("stdin", () => buffer(input));
}

async function textOf(path: string, read: () => Promise<Uint8Array>): Promise<string> {
  try {
    return utf8Text(await read());
  } catch (error) {
    if (error instanceof NotUtf8Error) throw usageError(`${path}: ${error.message}`);
    throw fileError("read", path, error);
  }
}

/** `name` stands for the file in the message. @throws CliError */
export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text.startsWith("\ufeff") ? text.slice(1) : text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const { line, column } = placeOfJsonError(text, error);
    throw usageError(`${name}:${line}:${column}: not JSON: ${error.message}; correct it there`);
  }
}
