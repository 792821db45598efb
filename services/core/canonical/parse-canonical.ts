/**
 * From the bytes a client sent to the value every check sees and the text that is hashed, approved and run.
 *
 * C1 Total: any input gives a result, none throws.
 * C2 Idempotent: the text of a result parses to the same text.
 * C3 Injective up to key order, white space, escape spelling, spellings of one integer, and fractions that name one
 *    double; whatever two parsers could read differently is refused.
 */

import { canonicalText } from "./canonical-text.ts";
import { type CanonicalFailure, canonicalFailure } from "./failure.ts";
import { readFast } from "./fast-reader.ts";
import type { FastRead } from "./fast-walk.ts";
import type { JsonValue } from "./json-value.ts";
import { type CanonicalLimits, DEFAULT_CANONICAL_LIMITS } from "./limits.ts";
import type { Member } from "./read-members.ts";
import { readStrict } from "./strict-reader.ts";
import { decodeUtf8, firstInvalidByte, utf8Length } from "./utf8.ts";

/** `value` may be made when it is first asked for: a spread would leave it out. */
export type CanonicalSuccess = {
  readonly ok: true;
  /** Plain objects with their members in canonical order, integer-like keys first as the language has it. */
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
  if (input.length > limits.maxBytes) return tooLarge(input.length, limits);
  const text = decodeUtf8(input);
  if (text === undefined) {
    const message = "bytes are not valid UTF-8, encode the text as UTF-8";
    return canonicalFailure("invalid_utf8", message, firstInvalidByte(input));
  }
  const result = parseText(text, limits);
  if (result.ok || text.length === input.length) return result;
  return { ...result, at: utf8Length(text, result.at) };
}

/** What was read ahead and not asked for yet. */
let ahead: CanonicalSuccess | undefined;

/**
 * Keeps what was read of a member, false where nothing was. The next who asks for its text gets it, once: the text of a
 * call's arguments is read with its proposal and decided after.
 */
export function keepAhead({ read }: Member): boolean {
  if (read === undefined) return false;
  ahead = read;
  return true;
}

/** Handed out once, so that nobody shares a value with anybody. */
function takeAhead(text: string, limits: CanonicalLimits): CanonicalSuccess | undefined {
  const found = ahead;
  if (found === undefined || found.text !== text) return undefined;
  ahead = undefined;
  return found.keyCount <= limits.maxKeys && found.depth <= limits.maxDepth ? found : undefined;
}

function parseText(text: string, limits: CanonicalLimits): CanonicalResult {
  if (exceeds(text, limits.maxBytes)) return tooLarge(utf8Length(text), limits);
  const known = takeAhead(text, limits);
  if (known !== undefined) return known;
  const fast = readFast(text, limits);
  if (fast !== undefined) return within(fast, limits);
  const read = readStrict(text, limits);
  if (!read.ok) return read;
  const { value, keyCount, depth } = read;
  return within({ ok: true, value, text: canonicalText(value), keyCount, depth }, limits);
}

/** Only numbers can grow, `1e20` to its 21 digits; without this the form itself would not be accepted. */
function within(read: FastRead, limits: CanonicalLimits): CanonicalResult {
  return exceeds(read.text, limits.maxBytes) ? tooLarge(utf8Length(read.text), limits) : read;
}

/** A code unit is at most three bytes, so short texts need no counting. */
function exceeds(text: string, maxBytes: number): boolean {
  return text.length * 3 > maxBytes && utf8Length(text) > maxBytes;
}

function tooLarge(bytes: number, limits: CanonicalLimits): CanonicalFailure {
  const message = `${bytes} bytes are more than the ${limits.maxBytes} allowed, send less`;
  return canonicalFailure("too_large", message, limits.maxBytes);
}
