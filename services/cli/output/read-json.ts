/** Locates the first error in a JSON text. */
import { GREATEST_MAX_BYTES } from "../../core/canonical/limits.ts";
import { parseCanonical } from "../../core/canonical/parse-canonical.ts";
import { usageError } from "../../process/exit-error.ts";

/** `name` is the file's, for the message. @throws ExitError: invalid JSON, with line and column. */
export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text.startsWith("\ufeff") ? text.slice(1) : text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const { line, column } = locateJsonError(text, error);
    throw usageError(`${name}:${line}:${column}: not JSON: ${error.message}; correct it there`);
  }
}

interface JsonLocation {
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

const DEPTH_MAX = 1_000;

/** The platform's parser does not always say; our own parser does. */
export function locateJsonError(text: string, error: SyntaxError): JsonLocation {
  const offsetText = /\bposition (\d+)/.exec(error.message)?.[1];
  return locateOffset(text, offsetText === undefined ? strictOffset(text) : Number(offsetText));
}

function strictOffset(text: string): number {
  if (text.length > GREATEST_MAX_BYTES) return text.length;
  const limits = { maxBytes: GREATEST_MAX_BYTES, maxDepth: DEPTH_MAX, maxKeys: text.length };
  const parsed = parseCanonical(text, limits);
  return parsed.ok ? text.length : parsed.at;
}

function locateOffset(text: string, offset: number): JsonLocation {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
