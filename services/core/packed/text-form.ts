/** What a text is made of, by which it is written (see format.ts). */
import { HEX_DIGITS_MIN, HEX_RUN_MIN } from "./format.ts";

/** `ascii` and `other`: texts without long runs of hex digits, of ASCII alone and not. */
export type TextForm = "hex" | "joined" | "ascii" | "other";

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

const ASCII_MAX = 0x7f;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const LETTER_A = 0x61;
const LETTER_F = 0x66;

function isHexDigit(unit: number): boolean {
  return unit <= DIGIT_9 ? unit >= DIGIT_0 : unit >= LETTER_A && unit <= LETTER_F;
}

export function formOf(text: string): TextForm {
  const { length } = text;
  let isAscii = true;
  let longest = 0;
  let run = 0;
  for (let at = 0; at < length; at += 1) {
    const unit = charCodeAt.call(text, at);
    run = isHexDigit(unit) ? run + 1 : 0;
    if (run > longest) longest = run;
    if (unit > ASCII_MAX) isAscii = false;
  }
  if (longest === length && length >= HEX_DIGITS_MIN && length % 2 === 0) return "hex";
  if (longest >= HEX_RUN_MIN) return "joined";
  return isAscii ? "ascii" : "other";
}

/** The text in parts: long runs of hex digits, of even length, and what is between them. */
export function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  const { length } = text;
  let from = 0;
  for (let start = 0; start < length; start += 1) {
    let end = start;
    while (end < length && isHexDigit(charCodeAt.call(text, end))) end += 1;
    const digits = end - start - ((end - start) % 2);
    if (digits >= HEX_RUN_MIN) {
      if (start > from) parts.push(text.slice(from, start));
      from = start + digits;
      parts.push(text.slice(start, from));
    }
    start = end;
  }
  if (from < length) parts.push(text.slice(from));
  return parts;
}
