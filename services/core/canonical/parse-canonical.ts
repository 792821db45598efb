/**
 * Parses the bytes that a client sent into the value that every check sees and the text that is
 * hashed, approved and run.
 *
 * CANONICAL-1 Total: any input gives a result, none throws.
 * CANONICAL-2 Idempotent: the text of a result parses to the same text.
 * CANONICAL-3 Injective up to key order, white space, escape spelling, spellings of one integer,
 * and fractions that name one double; anything that two parsers could read differently is refused.
 */

import { type CanonicalText, canonicalize } from "./canonicalize.ts";
import { type CanonicalFailure, canonicalFailure } from "./failure.ts";
import type { JsonValue } from "./json-value.ts";
import { type CanonicalLimits, DEFAULT_CANONICAL_LIMITS } from "./limits.ts";
import { decodeUtf8, firstInvalidByte, utf8Length } from "./utf8.ts";

export type CanonicalSuccess = CanonicalText & {
  /**
   * Plain objects with their members in canonical order; integer-like keys come first, as in every
   * JavaScript object.
   */
  readonly value: JsonValue;
};

export type CanonicalResult = CanonicalSuccess | CanonicalFailure;

/** Reads one JSON value strictly; see docs/canonical.md for what is accepted. Never throws. */
export function parseCanonical(
  input: Uint8Array | string,
  limits: CanonicalLimits = DEFAULT_CANONICAL_LIMITS,
): CanonicalResult {
  const read = readCanonical(input, limits);
  if (!read.ok) return read;
  const { text, keyCount, depth } = read;
  return { ok: true, value: JSON.parse(text) as JsonValue, text, keyCount, depth };
}

/** The same without the value: a call whose arguments nothing of its policy looks into needs none. */
export function readCanonical(
  input: Uint8Array | string,
  limits: CanonicalLimits = DEFAULT_CANONICAL_LIMITS,
): CanonicalText | CanonicalFailure {
  if (typeof input === "string") return readText(input, limits);
  if (input.length > limits.maxBytes) return tooLarge(limits);
  const text = decodeUtf8(input);
  if (text === undefined) {
    const message = "bytes are not valid UTF-8, encode the text as UTF-8";
    return canonicalFailure("invalid_utf8", message, firstInvalidByte(input));
  }
  const result = readText(text, limits);
  if (result.ok || text.length === input.length) return result;
  return { ...result, at: utf8Length(text, result.at) };
}

function readText(text: string, limits: CanonicalLimits): CanonicalText | CanonicalFailure {
  if (exceeds(text, limits.maxBytes)) return tooLarge(limits);
  const read = canonicalize(text, limits);
  if (!read.ok) return read;
  // Only numbers can grow, `1e20` to its 21 digits; without this the form itself would not be accepted.
  return exceeds(read.text, limits.maxBytes) ? tooLarge(limits) : read;
}

/** A code unit has one byte at least and three at most: few texts need counting. */
function exceeds(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  return text.length * 3 > maxBytes && utf8Length(text) > maxBytes;
}

function tooLarge(limits: CanonicalLimits): CanonicalFailure {
  const message = `the text has more than the ${limits.maxBytes} bytes allowed, send less`;
  return canonicalFailure("too_large", message, limits.maxBytes);
}
