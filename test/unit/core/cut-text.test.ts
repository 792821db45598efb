import { expect, test } from "vitest";
import { cutText } from "../../../services/core/cut-text.ts";

test.each([
  ["abc", 3, "abc"],
  ["abcd", 3, "abc"],
  ["ab😀", 4, "ab😀"],
  ["ab😀", 3, "ab"],
  ["a😀b", 3, "a😀"],
  ["😀", 1, ""],
  ["", 0, ""],
  // The first and the last pair, and the units beside the halves of a pair.
  ["\u{10000}x", 1, ""],
  ["\u{10000}x", 2, "\u{10000}"],
  ["\u{10ffff}x", 1, ""],
  ["\ud7ff\ud7ff", 1, "\ud7ff"],
])("%j cut to %i code units is %j", (text, length, cut) => {
  expect(cutText(text, length)).toBe(cut);
});
