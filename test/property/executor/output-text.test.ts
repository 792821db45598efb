import fc from "fast-check";
import { expect, test } from "vitest";
import {
  cutToBytes,
  textOfValue,
  utf8Length,
  valueOfText,
} from "../../../services/executor/output-text.ts";

/** Texts that look like what the marks are made of. */
const tricky = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.json(),
  fc.json().map((text) => `${text}\n`),
  fc.json().map((text) => `\n ${text} \n\n`),
  fc.constantFrom("", "\n", "null", "null\n", '"', '""', '""\n', "-", "-1\n", "true\n\n", "[1,\n"),
);

test("every text comes back as it was", () => {
  fc.assert(
    fc.property(tricky, (text) => {
      const written = textOfValue(text);
      expect(written.faithful).toBe(true);
      expect(valueOfText(written.text ?? "")).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});

test("a text that has no UTF-8 form is known to", () => {
  expect(textOfValue("\ud800").faithful).toBe(false);
  expect(textOfValue("\u{1f600}").faithful).toBe(true);
});

test("every JSON value comes back as it was", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const { text, faithful } = textOfValue(value);
      // -0 is no JSON value of its own.
      if (!faithful) return;
      expect(valueOfText(text ?? "")).toEqual(value);
    }),
    { numRuns: 2_000 },
  );
});

test("what is called faithful comes back as it was, whatever it is", () => {
  const anything = fc.anything({ withDate: true, withMap: true, withSet: true, withBigInt: true });
  fc.assert(
    fc.property(anything, (value) => {
      const { text, faithful } = textOfValue(value);
      if (!faithful || text === null) return;
      expect(valueOfText(text)).toEqual(value);
    }),
    { numRuns: 2_000 },
  );
});

test("a cut is a beginning, within the bytes, and no character short of them", () => {
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
