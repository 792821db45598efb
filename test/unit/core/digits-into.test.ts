import fc from "fast-check";
import { expect, test } from "vitest";
import { digitsInto, MOST_DIGITS } from "../../../services/core/digits-into.ts";

/** What is put down behind two other bytes, and the place behind it. */
function put(value: number): readonly [string, number] {
  const into = new Uint8Array(MOST_DIGITS + 4).fill(0x2e);
  const end = digitsInto(into, 2, value);
  return [String.fromCharCode(...into), end];
}

const shown = (value: number) => `..${value}`.padEnd(MOST_DIGITS + 4, ".");

test.each([
  0,
  9,
  10,
  99,
  100,
  1_000_000,
  9_999_999,
  10_000_000,
  10_000_001,
  70_000_000,
  99_999_999_999_999,
  100_000_000_000_000,
  1_763_990_000_000,
  100_000_070_000_009,
  2 ** 31,
  2 ** 32,
  2 ** 53 - 1,
])("%i is its digits, and nothing beside them is touched", (value) => {
  expect(put(value)).toEqual([shown(value), 2 + String(value).length]);
});

test("every safe integer is its digits", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (value) => {
      expect(put(value)).toEqual([shown(value), 2 + String(value).length]);
    }),
  );
});
