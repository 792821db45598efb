import { describe, expect, test } from "vitest";
import {
  isAlwaysEnforced,
  isReasonCode,
  REASON_CHECKS,
  REASON_CODES,
  REASONS,
} from "../../../../services/core/reasons/reasons.ts";

describe.each(REASON_CODES)("the row of %s", (code) => {
  const { check, modelText, cause, remedy } = REASONS[code];

  test("names a check", () => {
    expect(REASON_CHECKS).toContain(check);
  });

  test("has whole sentences that need nothing filled in", () => {
    for (const text of [modelText, cause, remedy]) {
      expect(text).toMatch(/^[A-Z`].*[.]$/);
      expect(text).not.toMatch(/[{}]|\s{2}|\n/);
    }
  });

  test("tells the model what happened and what to do, and names no key of a policy", () => {
    expect(modelText.split(/[.:;] /).length).toBeGreaterThanOrEqual(2);
    expect(modelText).not.toMatch(/`|_/);
    expect(modelText.length).toBeLessThan(320);
  });
});

test("no two reasons have one text", () => {
  const models = REASON_CODES.map((code) => REASONS[code].modelText);
  expect(new Set(models).size).toBe(REASON_CODES.length);
});

test("a reason code is distinguished from other texts", () => {
  expect(REASON_CODES.every(isReasonCode)).toBe(true);
  expect(["", "duplicate", "toString"].some(isReasonCode)).toBe(false);
});

test("no reason that is always enforced is a refusal for repetition", () => {
  const always = REASON_CODES.filter(isAlwaysEnforced);
  expect(always.filter((code) => REASONS[code].isStrike === true)).toEqual([]);
});
