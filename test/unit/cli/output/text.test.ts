import { expect, test } from "vitest";
import { locateJsonError } from "../../../../services/cli/output/read-json.ts";
import { createStyle } from "../../../../services/cli/output/style.ts";
import { textTable } from "../../../../services/cli/output/table.ts";
import {
  counted,
  printable,
  revealed,
  revealedJson,
  revealedLines,
  wrapped,
} from "../../../../services/cli/output/text.ts";

test.each([
  ["a\u001b[31mb\r\nc", 20, "a\\u001b[31mb c"],
  ["right\u202eleft", 20, "right\\u202eleft"],
  ["a\u2066b\u200bc\ufeffd\u{e0041}e", 40, "a\\u2066b\\u200bc\\ufeffd\\udb40\\udc41e"],
  ["a\u3164b\u2800c\u{e0101}d", 20, "a\\u3164b\\u2800c…"],
  ["ab\u202e", 8, "ab\\u202e"],
  ["ab\u202ec", 8, "ab…"],
  ["abcdef", 4, "abc…"],
  ["ab😀cd", 4, "ab😀…"],
  ["abcd", 4, "abcd"],
])(
  "shows %j in %d characters with nothing hidden and no escape cut in two, as %j",
  (text, most, shown) => {
    expect(printable(text, most)).toBe(shown);
  },
);

test("counts with the noun in the right number", () => {
  expect([0, 1, 2].map((count) => counted(count, "call"))).toEqual([
    "0 calls",
    "1 call",
    "2 calls",
  ]);
});

test("wraps a text at spaces, and keeps a long word whole", () => {
  expect(wrapped("aa bb cc dddddddd e", 5)).toBe("aa bb\ncc\ndddddddd\ne");
});

test("changes text only if the style has colours", () => {
  expect(createStyle(false).bad("x")).toBe("x");
  expect(createStyle(true).bad("x")).toBe("\u001b[31mx\u001b[39m");
});

test("prints a table without borders, colours or trailing blanks", () => {
  const table = textTable(
    ["name", "n"],
    [
      ["a", 1],
      ["bb", 22],
    ],
    createStyle(false),
    [1],
  );
  expect(table).toBe("name   n\na      1\nbb    22\n");
});

test.each([
  ['{"a":\n  1,\n  b}', 3, 3],
  ['["a"\n', 2, 1],
  ["[tru]", 1, 2],
])("locates the JSON error in %j", (text, line, column) => {
  let location: unknown;
  try {
    JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) location = locateJsonError(text, error);
  }
  expect(location).toEqual({ line, column });
});

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
