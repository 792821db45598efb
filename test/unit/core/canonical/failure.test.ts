import { expect, test } from "vitest";
import { shown } from "../../../../services/core/canonical/failure.ts";

test("a message shows forty characters whole, and cuts more", () => {
  expect(shown("x".repeat(40))).toBe(`\`${"x".repeat(40)}\``);
  expect(shown("x".repeat(41))).toBe(`\`${"x".repeat(40)}...\``);
});

test("a message shows the last printable ASCII character as it is, and escapes the next", () => {
  expect(shown("~")).toBe("`~`");
  expect(shown("\u007f")).toBe("`\\u007f`");
});
