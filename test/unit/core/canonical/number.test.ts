import { describe, expect, it } from "vitest";
import {
  isExactNumber,
  isWholeNumberText,
  readNumber,
} from "../../../../services/core/canonical/number.ts";

describe("readNumber", () => {
  it.each([
    ["0", 0],
    ["0.000e+999999999999999999999", 0],
    ["-0", 0],
    ["10", 10],
    ["1e1", 10],
    ["10.0", 10],
    ["1000e-2", 10],
    ["-1.5", -1.5],
    ["9007199254740992", 2 ** 53],
    ["9007199254740994", 2 ** 53 + 2],
    ["100000000000000000000", 1e20],
    ["1e21", 1e21],
    ["1000000000000000000000", 1e21],
    ["123e45", 1.23e47],
    ["0.30000000000000004", 0.30000000000000004],
    ["0.30000000000000000", 0.3],
    ["9007199254740992.1", 2 ** 53],
    ["1.7976931348623157e308", Number.MAX_VALUE],
    ["5e-324", 5e-324],
  ])("reads %s as %d", (token, value) => {
    expect(readNumber(token)).toBe(value);
  });

  it.each([
    ["9007199254740993", "number_not_exact"],
    ["-9223372036854775808", "number_not_exact"],
    ["1152921504606846976", "number_not_exact"],
    ["1152921504606847000", "number_not_exact"],
    ["1234567890123456789e3", "number_not_exact"],
    ["0.300000000000000041", "number_too_precise"],
    ["1.00000000000000000001", "number_too_precise"],
    ["1e400", "number_overflow"],
    ["-1.8e308", "number_overflow"],
    ["1e-400", "number_underflow"],
    ["2e-324", "number_underflow"],
  ])("refuses %s as %s", (token, code) => {
    expect(readNumber(token)).toBe(code);
  });
});

describe("isExactNumber", () => {
  it("recognizes the numbers whose canonical form is exact", () => {
    expect([0, -1, 2 ** 53, 1e20, 1e21, 0.1].map(isExactNumber)).not.toContain(false);
    expect([2 ** 60, Number.NaN, Number.POSITIVE_INFINITY].map(isExactNumber)).not.toContain(true);
  });
});

describe("isWholeNumberText", () => {
  it("looks at the value, not at the spelling", () => {
    expect(["0", "0.0", "1.0", "1e2", "1500e-2", "0.001e3"].map(isWholeNumberText)).toEqual([
      true,
      true,
      true,
      true,
      true,
      true,
    ]);
    expect(["0.5", "1e-1", "155e-1"].map(isWholeNumberText)).toEqual([false, false, false]);
  });
});
