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
])("of %j at most %i code units are %j", (text, length, cut) => {
  expect(cutText(text, length)).toBe(cut);
});
