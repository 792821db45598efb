import { usageError } from "../../process/exit-error.ts";
import { readTextFile } from "../../process/text-files.ts";
import { locateJsonError } from "./json-problem.ts";

/** @throws ExitError: unreadable file, or no JSON, with line and column. */
export async function readJsonFile(path: string): Promise<unknown> {
  return parseJson(await readTextFile(path), path);
}

/** `name` stands for the file in the message. @throws ExitError */
export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text.startsWith("\ufeff") ? text.slice(1) : text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const { line, column } = locateJsonError(text, error);
    throw usageError(`${name}:${line}:${column}: not JSON: ${error.message}; correct it there`);
  }
}
