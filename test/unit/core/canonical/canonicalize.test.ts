import { describe, expect, it } from "vitest";
import { DEFAULT_CANONICAL_LIMITS } from "../../../../services/core/canonical/limits.ts";
import { parseCanonical } from "../../../../services/core/canonical/parse-canonical.ts";

function refusalOf(text: string): readonly [string, number, string] {
  const read = parseCanonical(text, DEFAULT_CANONICAL_LIMITS);
  if (read.ok) throw new Error("accepted");
  return [read.code, read.at, read.message];
}

function escapedPair(character: string): string {
  if (character.length === 1) return character;
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16)}`)
    .join("");
}

describe("parseCanonical refuses, with position and remedy,", () => {
  it.each([
    ["", 0, "found the end of the text where a value must stand, send valid JSON"],
    ["nul", 0, "found `n` where a value must stand, send valid JSON"],
    ["NaN", 0, "found `N` where a value must stand, send valid JSON"],
    ["{'a':1}", 1, "found `'` where a key in double quotes must stand, send valid JSON"],
    ['{"a" 1}', 5, "found `1` where `:` after the key must stand, send valid JSON"],
    ['{"a":1 "b":2}', 7, 'found `\\"` where `,` or `}` must stand, send valid JSON'],
    ['{"a":1,}', 7, "found `}` where a key in double quotes must stand, send valid JSON"],
    ["[1.]", 2, "found `.` where `,` or `]` must stand, send valid JSON"],
    ["[1.e1]", 2, "found `.` where `,` or `]` must stand, send valid JSON"],
    ["[1e]", 2, "found `e` where `,` or `]` must stand, send valid JSON"],
    ["[1e+]", 2, "found `e` where `,` or `]` must stand, send valid JSON"],
    ["[1,]", 3, "found `]` where a value must stand, send valid JSON"],
    ["[1", 2, "found the end of the text where `,` or `]` must stand, send valid JSON"],
    ["[1}", 2, "found `}` where `,` or `]` must stand, send valid JSON"],
    ["01", 1, "text goes on after the value, send one JSON value alone"],
    ["1 2", 2, "text goes on after the value, send one JSON value alone"],
    ["+1", 0, "found `+` where a value must stand, send valid JSON"],
    [".5", 0, "found `.` where a value must stand, send valid JSON"],
    ["-", 0, "found `-` where a value must stand, send valid JSON"],
    ["\ufeff{}", 0, "found `\\ufeff` where a value must stand, send valid JSON"],
    ['["a', 1, "string does not end, close it with a double quote"],
    ['["a\nb"]', 3, "raw control character in a string, escape it"],
    ['["\u001f"]', 2, "raw control character in a string, escape it"],
    ['["\\x"]', 2, "unknown escape in a string, use one that JSON defines"],
    ['["\\u12g4"]', 2, "unknown escape in a string, use one that JSON defines"],
  ])("%j", (text, at, message) => {
    expect(refusalOf(text)).toEqual(["syntax", at, message]);
  });

  it.each([
    ["[1e400]", "number_overflow", "number `1e400` is too large for a double, send it as a string"],
    [
      "[1e-400]",
      "number_underflow",
      "number `1e-400` is too small for a double, send 0 or send it as a string",
    ],
    [
      "[9007199254740993]",
      "number_not_exact",
      "number `9007199254740993` would change as a double, send it as a string",
    ],
    [
      "[0.123456789012345678]",
      "number_too_precise",
      "number `0.123456789012345678` has more than 17 significant digits, send fewer or send it as a string",
    ],
  ])("%s", (text, code, message) => {
    expect(refusalOf(text)).toEqual([code, 1, message]);
  });

  it.each(['["\\udc00\\udc00"]', '["\\ud800\\ud800"]', '["\\ud800a"]'])("%s", (text) => {
    expect(refusalOf(text).slice(0, 2)).toEqual(["lone_surrogate", 2]);
  });

  it("the first of several errors", () => {
    expect(refusalOf('{"a":1e400,"a":tru')[0]).toBe("number_overflow");
  });
});

describe("parseCanonical accepts", () => {
  it("the four characters of white space around every token, and no other", () => {
    const space = " \t\n\r";
    const text = ["", "{", '"a"', ":", "[", "1", ",", "2", "]", "}", ""].join(space);
    expect(parseCanonical(text, DEFAULT_CANONICAL_LIMITS)).toMatchObject({ value: { a: [1, 2] } });
    for (const other of ["\u000b", "\u000c", "\u000e", "\u0008", "\u00a0", "!"]) {
      expect(refusalOf(`${other}1`)[0]).toBe("syntax");
    }
  });

  it("as many keys as the limit says, and not one more", () => {
    const limits = { ...DEFAULT_CANONICAL_LIMITS, maxKeys: 2 };
    expect(parseCanonical('{"a":{"b":1}}', limits)).toMatchObject({ ok: true, keyCount: 2 });
    expect(parseCanonical('{"a":{"b":1},"c":2}', limits)).toMatchObject({ code: "too_many_keys" });
  });

  it("the first and the last surrogate pair, raw and escaped", () => {
    const value = ["\u{10000}", "\u{10ffff}", "\ud83f\udc00", "\ud800\udfff"];
    const escaped = value.map((pair) => JSON.stringify(pair).replace(/./gsu, escapedPair));
    for (const text of [JSON.stringify(value), `[${escaped.join(",")}]`]) {
      expect(parseCanonical(text, DEFAULT_CANONICAL_LIMITS)).toMatchObject({ ok: true, value });
    }
  });

  it("every escape, and gives members in canonical order", () => {
    const text = '{"b":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00E9\\uD83D\\uDE00","a":[]}';
    const read = parseCanonical(text, DEFAULT_CANONICAL_LIMITS);
    expect(read).toEqual({
      ok: true,
      value: { a: [], b: '"\\/\b\f\n\r\t\u00e9\ud83d\ude00' },
      text: '{"a":[],"b":"\\"\\\\/\\b\\f\\n\\r\\t\u00e9\ud83d\ude00"}',
      keyCount: 2,
      depth: 2,
    });
    expect(read.ok && Object.keys(read.value as object)).toEqual(["a", "b"]);
  });
});
