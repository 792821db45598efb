/**
 * The complete strict JSON reader: one walk over the text that stops at the first thing two parsers could read
 * differently, and says where. `parseCanonical` comes here whenever the fast path is not certain, so this file decides
 * what is accepted; it is written to be read, not to be fast, but is linear in the text.
 */

import { type CanonicalCode, type CanonicalFailure, canonicalFailure, shown } from "./failure.ts";
import type { JsonObject, JsonValue } from "./json-value.ts";
import type { CanonicalLimits } from "./limits.ts";
import { readNumber } from "./number.ts";

export type StrictValue = {
  readonly ok: true;
  readonly value: JsonValue;
  readonly keyCount: number;
  readonly depth: number;
};

type Reader = {
  readonly text: string;
  readonly limits: CanonicalLimits;
  at: number;
  openCount: number;
  depth: number;
  keyCount: number;
  failure: CanonicalFailure | undefined;
};

/** The grammar's number; sticky, so it is tried at one place and does not search. */
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

/** Code units that stand for themselves in a string; surrogates are looked at in pairs. */
const PLAIN = /[^"\\\u0000-\u001f\ud800-\udfff]*/y;

const HEX4 = /[0-9a-fA-F]{4}/y;

const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

const LITERALS: ReadonlyMap<string, readonly [string, JsonValue]> = new Map([
  ["t", ["true", true]],
  ["f", ["false", false]],
  ["n", ["null", null]],
]);

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

/** Reads the whole text as one JSON value, objects with their members in canonical order. */
export function readStrict(text: string, limits: CanonicalLimits): StrictValue | CanonicalFailure {
  const reader: Reader = {
    text,
    limits,
    at: 0,
    openCount: 0,
    depth: 0,
    keyCount: 0,
    failure: undefined,
  };
  skipSpace(reader);
  const value = readValue(reader);
  if (value !== undefined) {
    skipSpace(reader);
    if (reader.at < text.length) {
      stop(reader, "syntax", "text goes on after the value, send one JSON value alone");
    }
  }
  if (reader.failure !== undefined) return reader.failure;
  return {
    ok: true,
    value: value as JsonValue,
    keyCount: reader.keyCount,
    depth: reader.depth,
  };
}

/** Notes the first failure and returns the `undefined` with which every reading function gives up. */
function stop(reader: Reader, code: CanonicalCode, message: string, at = reader.at): undefined {
  reader.failure ??= canonicalFailure(code, message, at);
  return undefined;
}

function skipSpace(reader: Reader): void {
  const { text } = reader;
  for (;;) {
    const unit = text.charCodeAt(reader.at);
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
    reader.at += 1;
  }
}

function readValue(reader: Reader): JsonValue | undefined {
  const first = reader.text.charAt(reader.at);
  if (first === "{") return nested(reader, readObject);
  if (first === "[") return nested(reader, readArray);
  if (first === '"') return readString(reader);
  const literal = LITERALS.get(first);
  if (literal === undefined) return readNumberToken(reader);
  const [word, value] = literal;
  if (!reader.text.startsWith(word, reader.at)) return unexpected(reader, "a value");
  reader.at += word.length;
  return value;
}

function nested(
  reader: Reader,
  read: (reader: Reader) => JsonValue | undefined,
): JsonValue | undefined {
  const { maxDepth } = reader.limits;
  if (reader.openCount === maxDepth) {
    return stop(
      reader,
      "too_deep",
      `values are nested more than ${maxDepth} levels deep, send a flatter value`,
    );
  }
  reader.openCount += 1;
  reader.depth = Math.max(reader.depth, reader.openCount);
  const value = read(reader);
  reader.openCount -= 1;
  return value;
}

function readArray(reader: Reader): JsonValue | undefined {
  const items: JsonValue[] = [];
  if (isNextAfterOpen(reader, "]")) return items;
  for (;;) {
    const item = readValue(reader);
    if (item === undefined) return undefined;
    items.push(item);
    const more = readSeparator(reader, "]");
    if (more === undefined) return undefined;
    if (!more) return items;
  }
}

function readObject(reader: Reader): JsonValue | undefined {
  const members = new Map<string, JsonValue>();
  if (isNextAfterOpen(reader, "}")) return {};
  for (;;) {
    const key = readKey(reader, members);
    if (key === undefined) return undefined;
    const value = readValue(reader);
    if (value === undefined) return undefined;
    members.set(key, value);
    const more = readSeparator(reader, "}");
    if (more === undefined) return undefined;
    if (!more) return inOrder(members);
  }
}

/** Steps over the opening bracket and, where the container is empty, over the closing one. */
function isNextAfterOpen(reader: Reader, close: string): boolean {
  reader.at += 1;
  skipSpace(reader);
  if (reader.text.charAt(reader.at) !== close) return false;
  reader.at += 1;
  return true;
}

/** Steps over a comma (true) or the closing bracket (false). */
function readSeparator(reader: Reader, close: string): boolean | undefined {
  skipSpace(reader);
  const found = reader.text.charAt(reader.at);
  if (found !== "," && found !== close) return unexpected(reader, `\`,\` or \`${close}\``);
  reader.at += 1;
  if (found === close) return false;
  skipSpace(reader);
  return true;
}

function readKey(reader: Reader, members: ReadonlyMap<string, JsonValue>): string | undefined {
  const start = reader.at;
  if (reader.text.charAt(start) !== '"') return unexpected(reader, "a key in double quotes");
  const key = readString(reader);
  if (key === undefined) return undefined;
  const { maxKeys } = reader.limits;
  reader.keyCount += 1;
  if (reader.keyCount > maxKeys) {
    return stop(reader, "too_many_keys", `more than ${maxKeys} keys, send fewer`, start);
  }
  if (FORBIDDEN_KEYS.has(key)) {
    return stop(
      reader,
      "forbidden_key",
      `key ${shown(key)} is not allowed, use another name`,
      start,
    );
  }
  if (members.has(key)) {
    return stop(
      reader,
      "duplicate_key",
      `key ${shown(key)} stands twice in one object, send it once`,
      start,
    );
  }
  skipSpace(reader);
  if (reader.text.charAt(reader.at) !== ":") return unexpected(reader, "`:` after the key");
  reader.at += 1;
  skipSpace(reader);
  return key;
}

/** Plain objects are safe here, because the keys that reach a prototype were refused. */
function inOrder(members: ReadonlyMap<string, JsonValue>): JsonObject {
  const object: { [key: string]: JsonValue } = {};
  for (const key of [...members.keys()].sort()) object[key] = members.get(key) as JsonValue;
  return object;
}

function readNumberToken(reader: Reader): number | undefined {
  NUMBER.lastIndex = reader.at;
  const token = NUMBER.exec(reader.text)?.[0];
  if (token === undefined) return unexpected(reader, "a value");
  const value = readNumber(token);
  if (typeof value === "number") {
    reader.at += token.length;
    return value;
  }
  return stop(reader, value, `number ${shown(token)} ${NUMBER_MENDS[value]}`);
}

const NUMBER_MENDS = {
  number_not_exact: "would change as a double, send it as a string",
  number_too_precise: "has more than 17 significant digits, send fewer or send it as a string",
  number_overflow: "is too large for a double, send it as a string",
  number_underflow: "is too small for a double, send 0 or send it as a string",
} as const;

function readString(reader: Reader): string | undefined {
  const { text } = reader;
  const start = reader.at;
  let value = "";
  reader.at += 1;
  for (;;) {
    PLAIN.lastIndex = reader.at;
    value += PLAIN.exec(text)?.[0] ?? "";
    reader.at = PLAIN.lastIndex;
    const unit = text.charAt(reader.at);
    if (unit === '"') {
      reader.at += 1;
      return value;
    }
    const piece = unit === "\\" ? readEscape(reader) : readRawPair(reader, start);
    if (piece === undefined) return undefined;
    value += piece;
  }
}

/** A raw surrogate pair; anything else that is not plain is an error. */
function readRawPair(reader: Reader, start: number): string | undefined {
  const { text, at } = reader;
  if (at >= text.length) {
    return stop(reader, "syntax", "string does not end, close it with a double quote", start);
  }
  const unit = text.charCodeAt(at);
  if (unit < 0x20) {
    return stop(reader, "syntax", "raw control character in a string, escape it");
  }
  if (!isHigh(unit) || !isLow(text.charCodeAt(at + 1))) return loneSurrogate(reader, at);
  reader.at += 2;
  return text.slice(at, at + 2);
}

function readEscape(reader: Reader): string | undefined {
  const { text, at } = reader;
  const letter = text.charAt(at + 1);
  const simple = ESCAPES.get(letter);
  if (simple !== undefined) {
    reader.at += 2;
    return simple;
  }
  const unit = letter === "u" ? hexUnit(text, at + 2) : undefined;
  if (unit === undefined) {
    return stop(reader, "syntax", "unknown escape in a string, use one that JSON defines");
  }
  reader.at += 6;
  if (!isHigh(unit) && !isLow(unit)) return String.fromCharCode(unit);
  // Both halves must be spelled alike: an escaped half beside a raw one is a lone surrogate to some readers.
  const second = text.startsWith("\\u", at + 6) ? hexUnit(text, at + 8) : undefined;
  if (!isHigh(unit) || second === undefined || !isLow(second)) return loneSurrogate(reader, at);
  reader.at += 6;
  return String.fromCharCode(unit, second);
}

function hexUnit(text: string, at: number): number | undefined {
  HEX4.lastIndex = at;
  const digits = HEX4.exec(text)?.[0];
  return digits === undefined ? undefined : Number.parseInt(digits, 16);
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function loneSurrogate(reader: Reader, at: number): undefined {
  return stop(reader, "lone_surrogate", "half of a surrogate pair in a string, send text", at);
}

function unexpected(reader: Reader, wanted: string): undefined {
  const unit = reader.text.charAt(reader.at);
  const found = unit === "" ? "the end of the text" : shown(unit);
  return stop(reader, "syntax", `found ${found} where ${wanted} must stand, send valid JSON`);
}
