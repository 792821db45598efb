/**
 * Parses the bytes that a client sent into the value that every check sees and the text that is
 * hashed, approved and run.
 *
 * CANONICAL-1 Total: any input gives a result, none throws.
 * CANONICAL-2 Idempotent: the text of a result parses to the same text.
 * CANONICAL-3 Injective up to key order, white space, escape spelling, spellings of one integer,
 * and fractions that name one double; anything that two parsers could read differently is refused.
 */

import { canonicalize } from "./canonicalize.ts";
import { type CanonicalFailure, canonicalFailure } from "./failure.ts";
import type { JsonValue } from "./json-value.ts";
import { type CanonicalLimits, DEFAULT_CANONICAL_LIMITS } from "./limits.ts";
import { decodeUtf8, firstInvalidByte, utf8Length } from "./utf8.ts";

export type CanonicalSuccess = {
  readonly ok: true;
  /**
   * Plain objects with their members in canonical order; integer-like keys come first, as in every
   * JavaScript object.
   */
  readonly value: JsonValue;
  /** RFC 8785 text of `value`; its UTF-8 bytes are what is hashed. */
  readonly text: string;
  readonly keyCount: number;
  readonly depth: number;
};

export type CanonicalResult = CanonicalSuccess | CanonicalFailure;

/** Reads one JSON value strictly; see docs/canonical.md for what is accepted. Never throws. */
export function parseCanonical(
  input: Uint8Array | string,
  limits: CanonicalLimits = DEFAULT_CANONICAL_LIMITS,
): CanonicalResult {
  if (typeof input === "string") return parseText(input, limits);
  if (input.length > limits.maxBytes) return tooLarge(limits);
  const text = decodeUtf8(input);
  if (text === undefined) {
    const message = "bytes are not valid UTF-8, encode the text as UTF-8";
    return canonicalFailure("invalid_utf8", message, firstInvalidByte(input));
  }
  const result = parseText(text, limits);
  if (result.ok || text.length === input.length) return result;
  return { ...result, at: utf8Length(text, result.at) };
}

function parseText(text: string, limits: CanonicalLimits): CanonicalResult {
  if (exceeds(text, limits.maxBytes)) return tooLarge(limits);
  const read = canonicalize(text, limits);
  if (!read.ok) return read;
  // Only numbers can grow, `1e20` to its 21 digits; without this the form itself would not be accepted.
  if (exceeds(read.text, limits.maxBytes)) return tooLarge(limits);
  const { text: canonical, keyCount, depth } = read;
  return { ok: true, value: JSON.parse(canonical) as JsonValue, text: canonical, keyCount, depth };
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
