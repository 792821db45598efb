import fc from "fast-check";
import { expect, test } from "vitest";
import {
  cutToBytes,
  isNearText,
  readOutput,
  utf8Length,
  writeOutput,
} from "../../../services/client/values/output-text.ts";

/** Texts that resemble the suffix marks. */
const tricky = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.json(),
  fc.json().map((text) => `${text}\n`),
  fc.json().map((text) => `\n ${text} \n\n`),
  fc.constantFrom("", "\n", "null", "null\n", '"', '""', '""\n', "-", "-1\n", "true\n\n", "[1,\n"),
);

function exactText(value: unknown): string | null {
  const written = writeOutput(value);
  return written.kind === "exact" ? written.text : null;
}

test("every text comes back unchanged", () => {
  fc.assert(
    fc.property(tricky, (text) => {
      const exact = exactText(text);
      expect(exact).not.toBeNull();
      expect(readOutput(exact ?? "")).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});

test("a text without a UTF-8 form is detected", () => {
  expect(writeOutput("\ud800").kind).toBe("near");
  expect(writeOutput("\u{1f600}").kind).toBe("exact");
});

test("every JSON value comes back unchanged", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const exact = exactText(value);
      // JSON has no -0.
      if (exact === null) return;
      expect(readOutput(exact)).toEqual(value);
    }),
    { numRuns: 2_000 },
  );
});

const anything = fc.anything({
  ...{ withDate: true, withMap: true, withSet: true, withBigInt: true },
  ...{ withSparseArray: true, withTypedArray: true, withBoxedValues: true },
});

test("an exact output comes back unchanged, whatever it is", () => {
  fc.assert(
    fc.property(anything, (value) => {
      const exact = exactText(value);
      if (exact === null) return;
      expect(isNearText(exact)).toBe(false);
      expect(readOutput(exact)).toEqual(value);
    }),
    { numRuns: 2_000 },
  );
});

test("an inexact output is never taken for an exact one", () => {
  fc.assert(
    fc.property(anything, (value) => {
      const written = writeOutput(value);
      if (written.kind !== "near" || typeof value === "string") return;
      expect(isNearText(written.text)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test("a cut is a prefix within the byte limit that loses no character needlessly", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 60 });
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 120 }), (whole, bytesMax) => {
      const cut = cutToBytes(whole, bytesMax);
      expect(whole.startsWith(cut)).toBe(true);
      expect(utf8Length(cut)).toBeLessThanOrEqual(bytesMax);
      if (cut === whole) return;
      const next = String.fromCodePoint(whole.codePointAt(cut.length) ?? 0);
      expect(utf8Length(cut + next)).toBeGreaterThan(bytesMax);
    }),
  );
});
