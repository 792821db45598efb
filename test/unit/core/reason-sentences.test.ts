import { describe, expect, test } from "vitest";
import published from "../../../schemas/reasons.json" with { type: "json" };
import { CHECK_NAMES, REASON_SENTENCES } from "../../../services/core/reason-sentences.ts";
import { ALWAYS_ENFORCED, REASON_CODES, STRIKING } from "../../../services/core/reasons.ts";

test("the published list says of every reason what the core says", () => {
  const expected = REASON_CODES.map((code) => {
    const { check, retryable, model, operator } = REASON_SENTENCES[code];
    const alwaysEnforced = ALWAYS_ENFORCED.has(code);
    const striking = STRIKING.has(code);
    return { code, check, alwaysEnforced, striking, retryable, model, operator };
  });
  expect(published).toEqual({ version: 1, reasons: expected });
});

describe.each(REASON_CODES)("the sentences of %s", (code) => {
  const { check, model, operator } = REASON_SENTENCES[code];

  test("belong to a check", () => {
    expect(CHECK_NAMES).toContain(check);
  });

  test("are whole sentences that need nothing filled in", () => {
    for (const text of [model, operator]) {
      expect(text).toMatch(/^[A-Z`].*[.]$/);
      expect(text).not.toMatch(/[{}]|\s{2}|\n/);
    }
  });

  test("say to the model what happened and what to do, and name no key of a policy", () => {
    expect(model.split(/[.:;] /).length).toBeGreaterThanOrEqual(2);
    expect(model).not.toMatch(/`|_/);
    expect(model.length).toBeLessThan(320);
  });
});

test("no two reasons read alike", () => {
  const models = REASON_CODES.map((code) => REASON_SENTENCES[code].model);
  expect(new Set(models).size).toBe(REASON_CODES.length);
});
