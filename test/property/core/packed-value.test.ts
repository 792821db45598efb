// Packed values are what JSON is, in fewer bytes.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { packValue } from "../../../services/core/packed/pack-value.ts";
import { unpackValue } from "../../../services/core/packed/unpack-value.ts";

const number = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double(),
  fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 }),
  fc.constantFrom(-0, 63, 64, 2 ** 31, -(2 ** 31), 2 ** 50, 2 ** 50 + 1, Number.MAX_SAFE_INTEGER),
);
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({
    unit: fc.integer({ min: 0, max: 0xff_ff }).map((code) => String.fromCharCode(code)),
  }),
  fc.string({ unit: fc.constantFrom(..."0123456789abcdefA"), maxLength: 80 }),
  fc.constantFrom("", "__proto__", "constructor", "status", "in_flight"),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, false),
    number,
    text,
    fc.array(tie("value"), { maxLength: 40 }),
    fc.dictionary(text, tie("value"), { maxKeys: 8 }),
    fc.record({ status: text, at: number, left: fc.option(tie("value"), { nil: undefined }) }),
  ),
}));
const WORDS = ["status", "at", "in_flight"];

describe("a packed value", () => {
  test("is read as JSON would be", () => {
    fc.assert(
      fc.property(value, fc.constantFrom([], WORDS), (any, words) => {
        const expected: unknown = JSON.parse(JSON.stringify(any));
        const bytes = packValue(any, words);
        expect(unpackValue(bytes, words)).toEqual(expected);
        expect(packValue(unpackValue(bytes, words), words)).toEqual(bytes);
      }),
    );
  });

  test("is an error where bytes are missing or follow, and never a crash where some are others", () => {
    fc.assert(
      fc.property(value, fc.nat(), fc.integer({ min: 0, max: 255 }), (any, at, byte) => {
        const bytes = packValue(any);
        expect(() => unpackValue(bytes.subarray(0, at % bytes.length))).toThrow();
        expect(() => unpackValue(Uint8Array.of(...bytes, byte))).toThrow();
        const other = Uint8Array.from(bytes);
        other[at % bytes.length] = byte;
        try {
          expect(unpackValue(other)).toBeDefined();
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
    );
  });

  test("has each long text once, and hex digits in half the bytes", () => {
    const digest = "0123456789abcdef".repeat(4);
    const once = packValue([digest]).length;
    expect(once).toBeLessThan(36);
    expect(packValue([digest, digest, digest]).length).toBe(once + 2);
  });
});
