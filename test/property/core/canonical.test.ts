// Laws of the canonical form for spelled trees, damaged texts and plain bytes, compared with a slow
// reference and with the published implementation of RFC 8785.
import canonicalize from "canonicalize";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalText } from "../../../services/core/canonical/canonical-text.ts";
import {
  type CanonicalLimits,
  DEFAULT_CANONICAL_LIMITS,
} from "../../../services/core/canonical/limits.ts";
import { parseCanonical } from "../../../services/core/canonical/parse-canonical.ts";
import { isEquivalent, referenceRead } from "../../support/canonical-reference.ts";
import { chooser, spell, spellable } from "../../support/json-spellings.ts";

const RUNS = { numRuns: 3_000 };

const seed = fc.nat();

const spelled = fc.tuple(spellable, seed).map(([tree, from]) => spell(tree, chooser(from)));

/** A text with one part replaced, doubled or removed: nearly JSON. */
const damaged = fc
  .tuple(
    spelled,
    fc.nat(),
    fc.constantFrom("", "0", "1", '"', "\\", ",", ":", "}", "]", "e", " ", "\n", "\u001f"),
  )
  .map(([text, position, put]) => {
    const at = position % (text.length + 1);
    return text.slice(0, at) + put + text.slice(at + (position % 2));
  });

const anyText = fc.oneof(spelled, damaged, fc.string({ unit: "binary" }), fc.json());

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(..."0012345678999"), minLength, maxLength });

/** Spelled like numbers, correct and nearly correct. */
const numberLike = fc
  .tuple(
    fc.constantFrom("", "-"),
    digits(0, 12),
    fc.oneof(
      fc.constant(""),
      digits(0, 8).map((fraction) => `.${fraction}`),
    ),
    fc.constantFrom("", "", "", "e2", "E-1"),
  )
  .map((parts) => parts.join(""));

/** Tight limits, so that texts reach them. */
const limits: fc.Arbitrary<CanonicalLimits> = fc.record({
  maxBytes: fc.integer({ min: 8, max: 200 }),
  maxDepth: fc.integer({ min: 1, max: 3 }),
  maxKeys: fc.integer({ min: 1, max: 5 }),
});

function textOf(input: string): string | undefined {
  const result = parseCanonical(input);
  return result.ok ? result.text : undefined;
}

describe("parseCanonical", () => {
  it("is idempotent: the text of a result is its own canonical form", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const first = parseCanonical(text);
        if (!first.ok) return;
        const again = parseCanonical(first.text);
        expect(again).toEqual(first);
        expect(canonicalText(first.value)).toBe(first.text);
      }),
      RUNS,
    );
  });

  it("gives one text for all spellings of a tree", () => {
    fc.assert(
      fc.property(spellable, seed, seed, (tree, one, other) => {
        expect(textOf(spell(tree, chooser(one)))).toBe(textOf(spell(tree, chooser(other))));
      }),
      RUNS,
    );
  });

  it("accepts exactly what the slow reference accepts", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const reference = referenceRead(text, DEFAULT_CANONICAL_LIMITS);
        expect(textOf(text) !== undefined).toBe(reference !== undefined);
      }),
      RUNS,
    );
  });

  it("gives two texts one form if and only if the written equivalence holds", () => {
    let [equal, different] = [0, 0];
    const small = fc.tuple(spellable, fc.nat(20)).map(([tree, from]) => spell(tree, chooser(from)));
    const pairs = fc.oneof(
      fc.tuple(small, small),
      fc
        .tuple(spellable, seed, seed)
        .map(([tree, one, other]) => [spell(tree, chooser(one)), spell(tree, chooser(other))]),
    );
    fc.assert(
      fc.property(pairs, ([left = "", right = ""]) => {
        const [one, other] = [left, right].map((text) =>
          referenceRead(text, DEFAULT_CANONICAL_LIMITS),
        );
        if (one === undefined || other === undefined) return;
        const isEqual = textOf(left) === textOf(right);
        expect(isEqual).toBe(isEquivalent(one, other));
        if (isEqual) equal += 1;
        else different += 1;
      }),
      { numRuns: 6_000 },
    );
    expect(equal).toBeGreaterThan(100);
    expect(different).toBeGreaterThan(100);
  });

  it("reads bytes as it reads their text", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const fromBytes = parseCanonical(new TextEncoder().encode(text));
        const fromText = parseCanonical(Buffer.from(text, "utf8").toString("utf8"));
        expect({ ...fromBytes, at: 0 }).toEqual({ ...fromText, at: 0 });
      }),
      RUNS,
    );
  });

  it("accepts any bytes that are UTF-8, and refuses others at the position where they are not", () => {
    const bytes = fc.uint8Array({ maxLength: 40 });
    fc.assert(
      fc.property(bytes, fc.boolean(), (raw, isQuoted) => {
        const input = isQuoted ? Uint8Array.from([0x22, ...raw, 0x22]) : raw;
        const result = parseCanonical(input);
        const isUtf8 = Buffer.from(Buffer.from(input).toString("utf8"), "utf8").equals(input);
        if (!isUtf8) expect(result).toMatchObject({ ok: false, code: "invalid_utf8" });
        if (result.ok || result.code !== "invalid_utf8") return;
        const before = input.subarray(0, result.at);
        expect(parseCanonical(before)).not.toMatchObject({ code: "invalid_utf8" });
        expect(parseCanonical(input.subarray(0, result.at + 1))).toMatchObject({
          code: "invalid_utf8",
        });
      }),
      RUNS,
    );
  });

  it("enforces its limits, and reports a position within the text", () => {
    fc.assert(
      fc.property(anyText, limits, (text, bounds) => {
        const result = parseCanonical(text, bounds);
        if (result.ok) {
          expect(Buffer.byteLength(result.text)).toBeLessThanOrEqual(bounds.maxBytes);
          expect(result.depth).toBeLessThanOrEqual(bounds.maxDepth);
          expect(result.keyCount).toBeLessThanOrEqual(bounds.maxKeys);
          return;
        }
        expect(result.at).toBeGreaterThanOrEqual(0);
        expect(result.at).toBeLessThanOrEqual(Math.max(text.length, bounds.maxBytes));
        expect(result.message).toMatch(/^[^A-Z\n][^\n]*[^.\n]$/);
      }),
      RUNS,
    );
  });
});

describe("a number", () => {
  it("is read as the slow reference reads it, to the last bit", () => {
    let accepted = 0;
    fc.assert(
      fc.property(numberLike, (number) => {
        const text = `[${number}]`;
        const reference = referenceRead(text, DEFAULT_CANONICAL_LIMITS);
        const read = parseCanonical(text);
        expect(read.ok).toBe(reference !== undefined);
        if (!read.ok || number === "") return;
        accepted += 1;
        expect(read.text).toBe(canonicalText(read.value));
        expect(read.value).toStrictEqual([Number(number) + 0]);
      }),
      { numRuns: 20_000 },
    );
    expect(accepted).toBeGreaterThan(2_000);
  });
});

describe("canonicalText", () => {
  it("prints any JSON value as the published implementation of RFC 8785 does", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value = JSON.parse(text);
        expect(canonicalText(value)).toBe(canonicalize(value));
      }),
      RUNS,
    );
  });
});
