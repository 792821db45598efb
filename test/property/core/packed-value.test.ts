// Packed values are what JSON is, in fewer bytes.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { vocabularyOf } from "../../../services/core/packed/format.ts";
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
  fc.string({ unit: fc.constantFrom("0123456789abcdef", "0", "{", "é"), maxLength: 8 }),
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
const VOCABULARY = vocabularyOf(["status", "in_flight"], ["at left status"]);

describe("a packed value", () => {
  test("is read as JSON would be", () => {
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, VOCABULARY), (any, vocabulary) => {
        const expected: unknown = JSON.parse(JSON.stringify(any));
        const bytes = packValue(any, vocabulary);
        expect(unpackValue(bytes, vocabulary)).toEqual(expected);
        expect(packValue(unpackValue(bytes, vocabulary), vocabulary)).toEqual(bytes);
      }),
    );
  });

  test("has the same bytes whatever the order of its members", () => {
    const [first, second] = [
      { a: 1, b: { c: "x", d: 2 } },
      { b: { d: 2, c: "x" }, a: 1 },
    ];
    expect(packValue([first, second])).toEqual(packValue([second, first]));
    expect(packValue([first, second]).length).toBeLessThan(packValue([first]).length + 8);
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
    expect(packValue([digest, `id:${digest}`]).length).toBeLessThan(once + 10);
  });

  test("has each time once, and names of members that the reader has not at all", () => {
    const time = 1_700_000_000_000;
    expect(packValue([time, time + 86_400_000, time, time]).length).toBe(
      packValue([time, time + 86_400_000]).length + 4,
    );
    const row = { status: "in_flight", at: 1, left: 2 };
    expect(packValue(row, VOCABULARY).length).toBe(5);
  });
});
