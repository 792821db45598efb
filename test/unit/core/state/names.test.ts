import fc from "fast-check";
import { expect, test } from "vitest";
import { callNameOf, decisionBytes, staysNamed } from "../../../../services/core/state/names.ts";
import { given } from "../../../support/decider-spec.ts";

const part = fc.option(fc.string({ unit: fc.constantFrom(" ", "-", "1", ":", "a"), maxLength: 4 }));
const name = fc.tuple(part, part, fc.string({ maxLength: 4 }));

test("two names are one only if all their parts are", () => {
  fc.assert(
    fc.property(name, name, (a, b) => {
      const same = JSON.stringify(a) === JSON.stringify(b);
      expect(callNameOf(...a) === callNameOf(...b)).toBe(same);
    }),
    { numRuns: 2_000 },
  );
  expect(callNameOf(null, null, "a")).not.toBe(callNameOf("", "", "a"));
});

test("names of writes and holds stay, those of reads and refusals may go", () => {
  const story = given({
    tool_schemas: { write: {}, look: { read_only: true }, ask: { risk_level: "HIGH" } },
  });
  expect(staysNamed(story.allowed("write"))).toBe(true);
  expect(staysNamed(story.held("ask"))).toBe(true);
  expect(staysNamed(story.allowed("look"))).toBe(false);
  expect(staysNamed(story.refused("nobody"))).toBe(false);
});

test("the size of a decision grows with what it holds", () => {
  const story = given({ tool_schemas: { write: {} } });
  const small = decisionBytes(story.allowed("write", {}));
  const large = decisionBytes(story.allowed("write", { text: "x".repeat(10_000) }));
  expect(large - small).toBeGreaterThanOrEqual(10_000);
  const refused = story.refused("nobody");
  expect(decisionBytes(refused)).toBeGreaterThan(refused.refusal.message.length);
});
