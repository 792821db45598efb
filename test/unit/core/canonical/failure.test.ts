import { expect, test } from "vitest";
import { shown } from "../../../../services/core/canonical/failure.ts";

test("forty characters are shown whole, more are cut", () => {
  expect(shown("x".repeat(40))).toBe(`\`${"x".repeat(40)}\``);
  expect(shown("x".repeat(41))).toBe(`\`${"x".repeat(40)}...\``);
});

test("the last printable character of ASCII is shown as it is, the next is not", () => {
  expect(shown("~")).toBe("`~`");
  expect(shown("\u007f")).toBe("`\\u007f`");
});
