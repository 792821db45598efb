import { expect, test } from "vitest";
import { revealed, revealedJson, revealedLines } from "../../../../services/cli/output/text.ts";

const json = (value: string, most = 80) => revealedJson(JSON.stringify(value), most);

test.each([
  ["/data/a\u200b", '"/data/a\\u{200b}"'],
  ["a\u200b\u200c\u202eb", '"a\\u{200b}\\u{200c}\\u{202e}b"'],
  ["a\u3164\u2800\u00a0\u3000b", '"a\\u{3164}\\u{2800}\\u{a0}\\u{3000}b"'],
  ["x\u{e0101}\ufe0f\u{e0041}", '"x\\u{e0101}\\u{fe0f}\\u{e0041}"'],
  ["\u007f\u009b\u2028\ue000", '"\\u{7f}\\u{9b}\\u{2028}\\u{e000}"'],
  ["plain, Zoë 😀 日本", '"plain, Zoë 😀 日本"'],
])("shows every character of %j: %s", (value, shown) => {
  expect(json(value)).toBe(shown);
});

test("distinguishes literal escapes from escaped characters", () => {
  const texts = ["a\u200b", "a\\u{200b}", "a\\\u200b", "a\\\\u{200b}", "a\\u200b"];
  const shown = texts.map((text) => json(text));
  expect(shown[1]).toBe('"a\\\\u{200b}"');
  expect(new Set(shown).size).toBe(texts.length);
  expect(new Set(texts.map((text) => revealed(text, 80))).size).toBe(texts.length);
});

test("quotes a text that would not be fully visible", () => {
  const shown = ["ann", "Ann B", "ann ", "an\u200bn", "a\\n", '"ann"', ""].map((text) =>
    revealed(text, 80),
  );
  expect(shown).toEqual([
    "ann",
    "Ann B",
    '"ann "',
    '"an\\u{200b}n"',
    '"a\\\\n"',
    '"\\"ann\\""',
    '""',
  ]);
});

test("cuts no escape in two", () => {
  expect(revealedJson('"ab\u200bcd"', 5)).toBe('"ab…');
  expect(revealedJson('"a\\nb\\ncd"', 5)).toBe('"a\\n…');
  expect(revealedJson('"abc"', 5)).toBe('"abc"');
  expect(revealedLines('"ab\u200b\\\\\u200b"', 9)).toEqual([
    '"ab',
    "\\u{200b}",
    "\\\\",
    '\\u{200b}"',
  ]);
});
