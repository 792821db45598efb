/** Strings of JSON: escapes, control characters and surrogate halves. */

import { isPlain, type Reader, stop } from "./reader.ts";

const HEX4 = /^[0-9a-fA-F]{4}$/;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

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

/** Reads the string that begins here and returns its value; undefined at a failure. */
export function readString(reader: Reader): string | undefined {
  const { text, at } = reader;
  const to = text.indexOf('"', at + 1);
  const plain = text.slice(at + 1, to);
  if (to === -1 || !(reader.isPlain || isPlain(plain))) return readUnits(reader);
  reader.at = to + 1;
  return plain;
}

/** Unit by unit; a run of plain units at once. */
function readUnits(reader: Reader): string | undefined {
  const { text, at: start } = reader;
  let value = "";
  reader.at += 1;
  for (;;) {
    const from = reader.at;
    reader.at = plainEnd(text, from);
    value += text.slice(from, reader.at);
    const unit = text.charCodeAt(reader.at);
    if (unit === QUOTE) break;
    const piece = unit === BACKSLASH ? readEscape(reader) : readRawPair(reader, start);
    if (piece === undefined) return undefined;
    value += piece;
  }
  reader.at += 1;
  const canonical = JSON.stringify(value);
  if (canonical.length !== reader.at - start || !text.startsWith(canonical, start)) {
    reader.printed = canonical;
  }
  return value;
}

/** The position after the units that represent themselves; surrogates are checked in pairs. */
function plainEnd(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE || unit === BACKSLASH || unit < 0x20 || isHigh(unit) || isLow(unit)) break;
  }
  return at;
}

/** A raw surrogate pair; anything else that is not plain is an error. */
function readRawPair(reader: Reader, start: number): string | undefined {
  const { text, at } = reader;
  const unit = text.charCodeAt(at);
  if (isHigh(unit) && isLow(text.charCodeAt(at + 1))) {
    reader.at += 2;
    return text.slice(at, at + 2);
  }
  if (at >= text.length) {
    stop(reader, "syntax", "string does not end, close it with a double quote", start);
  } else if (unit < 0x20) {
    stop(reader, "syntax", "raw control character in a string, escape it");
  } else {
    stopAtHalf(reader, at);
  }
  return undefined;
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
    stop(reader, "syntax", "unknown escape in a string, use one that JSON defines");
    return undefined;
  }
  reader.at += 6;
  if (!isHigh(unit) && !isLow(unit)) return String.fromCharCode(unit);
  // Both halves must be spelled alike: an escaped half beside a raw one is a lone surrogate to some readers.
  const second = text.startsWith("\\u", at + 6) ? hexUnit(text, at + 8) : undefined;
  if (!isHigh(unit) || second === undefined || !isLow(second)) {
    stopAtHalf(reader, at);
    return undefined;
  }
  reader.at += 6;
  return String.fromCharCode(unit, second);
}

function hexUnit(text: string, at: number): number | undefined {
  const digits = text.slice(at, at + 4);
  return HEX4.test(digits) ? Number.parseInt(digits, 16) : undefined;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function stopAtHalf(reader: Reader, at: number): void {
  stop(reader, "lone_surrogate", "half of a surrogate pair in a string, send text", at);
}
