import { describe, expect, it } from "vitest";
import { valueCapabilities } from "../../../../services/adapters/values/value-capabilities.ts";
import type { JsonValue } from "../../../../services/core/canonical/json-value.ts";
import { decimal, toInt, toNumber } from "../../../../services/core/normalize/numbers.ts";

describe("to_int", () => {
  it.each<[JsonValue, number]>([
    [100, 100],
    [-3, -3],
    [0, 0],
    ["100", 100],
    ["100.00", 100],
    ["1e2", 100],
    ["1.5e1", 15],
    ["+7", 7],
    ["-7", -7],
    ["007", 7],
    ["-0", 0],
    ["9007199254740992", 2 ** 53],
  ])("turns %j into %d", (value, expected) => {
    expect(toInt(value, valueCapabilities)).toEqual({ ok: true, value: expected });
  });

  it.each<[JsonValue, string]>([
    [100.5, "`to_int` needs a whole number, found a fraction"],
    [2 ** 60, "`to_int` needs a number that a double holds exactly"],
    ["100.5", "`to_int` needs a whole number, found a fraction"],
    ["9007199254740993", "`to_int` needs a number that a double holds exactly"],
    ["1e400", "`to_int` needs a number that a double holds exactly"],
    ["", "`to_int` needs decimal digits, found other text"],
    [" 1", "`to_int` needs decimal digits, found other text"],
    ["1,000", "`to_int` needs decimal digits, found other text"],
    ["0x10", "`to_int` needs decimal digits, found other text"],
    ["1.", "`to_int` needs decimal digits, found other text"],
    [".5", "`to_int` needs decimal digits, found other text"],
    ["NaN", "`to_int` needs decimal digits, found other text"],
    ["\u0661", "`to_int` needs decimal digits, found other text"],
    [true, "`to_int` needs a number, found a boolean"],
    [null, "`to_int` needs a number, found null"],
    [[1], "`to_int` needs a number, found an array"],
    [{}, "`to_int` needs a number, found an object"],
  ])("refuses %j", (value, message) => {
    expect(toInt(value, valueCapabilities)).toEqual({ ok: false, message });
  });
});

describe("to_number", () => {
  it.each<[JsonValue, number]>([
    [1.5, 1.5],
    ["1.50", 1.5],
    ["-0.0", 0],
    ["1e-7", 1e-7],
    ["0.1", 0.1],
    ["00.5", 0.5],
  ])("turns %j into %d", (value, expected) => {
    expect(toNumber(value, valueCapabilities)).toEqual({ ok: true, value: expected });
  });

  it.each<[JsonValue, string]>([
    ["0.123456789012345678", "`to_number` needs a number that a double holds"],
    ["1e-400", "`to_number` needs a number that a double holds"],
    ["9007199254740993", "`to_number` needs a number that a double holds"],
    ["12 EUR", "`to_number` needs decimal digits, found other text"],
    ["Infinity", "`to_number` needs decimal digits, found other text"],
    [false, "`to_number` needs a number, found a boolean"],
    [null, "`to_number` needs a number, found null"],
  ])("refuses %j", (value, message) => {
    expect(toNumber(value, valueCapabilities)).toEqual({ ok: false, message });
  });
});

describe("decimal", () => {
  it.each<[JsonValue, string]>([
    [100, "100"],
    ["100.00", "100"],
    ["1e2", "100"],
    ["+100", "100"],
    ["0100", "100"],
    ["0.10", "0.1"],
    [0.1, "0.1"],
    ["-0.00", "0"],
    [1e21, "1000000000000000000000"],
    [1e-7, "0.0000001"],
    ["0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"],
    ["9007199254740993", "9007199254740993"],
  ])("turns %j into %s", (value, expected) => {
    expect(decimal(value, valueCapabilities)).toEqual({ ok: true, value: expected });
  });

  it.each<[JsonValue, string]>([
    ["", "`decimal` needs a decimal number"],
    ["1,5", "`decimal` needs a decimal number"],
    ["1e999", "`decimal` needs a decimal number"],
    ["$5", "`decimal` needs a decimal number"],
    [".5", "`decimal` needs a decimal number"],
    [true, "`decimal` needs a number or text, found a boolean"],
    [null, "`decimal` needs a number or text, found null"],
    [["1"], "`decimal` needs a number or text, found an array"],
  ])("refuses %j", (value, message) => {
    expect(decimal(value, valueCapabilities)).toEqual({ ok: false, message });
  });
});

describe("the number normalizers", () => {
  it("take linear time on long text", () => {
    const texts = [`${"0".repeat(200_000)}x`, `1.${"0".repeat(200_000)}x`, "9".repeat(200_000)];
    for (const text of texts) {
      expect(toInt(text, valueCapabilities).ok).toBe(false);
      expect(decimal(text, valueCapabilities).ok).toBe(false);
    }
  });
});
