import { describe, expect, it } from "vitest";
import { decimal } from "../../../../services/adapters/values/decimal.ts";

describe("decimal", () => {
  it.each([
    ["1e2", "100"],
    ["-1.50E-3", "-0.0015"],
    ["-0", "0"],
    ["0e9999", "0"],
    ["0.00", "0"],
    ["-0.0", "0"],
    ["-0.10", "-0.1"],
    ["100", "100"],
    ["100.00", "100"],
    ["0.050", "0.05"],
    ["007.50", "7.5"],
    [`1e${99}`, `1${"0".repeat(99)}`],
    ["9".repeat(100), "9".repeat(100)],
  ])("normalizes %s to plain notation", (text, expected) => {
    expect(decimal(text)).toBe(expected);
  });

  it.each(["", "x", "1e100", "1e-99", "1e10000", "1e99999999999", "9".repeat(101), "NaN"])(
    "refuses %j",
    (text) => {
      expect(decimal(text)).toBeNull();
    },
  );
});
