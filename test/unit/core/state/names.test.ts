import fc from "fast-check";
import { expect, test } from "vitest";
import {
  callNameOf,
  decisionBytes,
  hasPermanentName,
} from "../../../../services/core/state/names.ts";
import { startStory } from "../../../support/decider-spec.ts";

const part = fc.option(fc.string({ unit: fc.constantFrom(" ", "-", "1", ":", "a"), maxLength: 4 }));
const digest = fc.constantFrom("a1", "b2");
const name = fc.tuple(part, part, fc.string({ maxLength: 4 }), digest);

/** The parts that count: of a call with a step its arguments do not. */
function partsOf([turn, step, callId, ofArguments]: readonly (string | null)[]): string {
  return JSON.stringify([turn, step, callId, step === null ? ofArguments : null]);
}

test("two names are equal only if all their parts are", () => {
  fc.assert(
    fc.property(name, name, (a, b) => {
      const same = partsOf(a) === partsOf(b);
      expect(callNameOf(...a) === callNameOf(...b)).toBe(same);
    }),
    { numRuns: 2_000 },
  );
  expect(callNameOf(null, null, "a", "d")).not.toBe(callNameOf("", "", "a", "d"));
});

test("names of writes and holds are permanent, those of reads and refusals may be dropped", () => {
  const story = startStory({
    tool_schemas: { write: {}, look: { read_only: true }, ask: { risk_level: "HIGH" } },
  });
  expect(hasPermanentName(story.allowed("write"))).toBe(true);
  expect(hasPermanentName(story.held("ask"))).toBe(true);
  expect(hasPermanentName(story.allowed("look"))).toBe(false);
  expect(hasPermanentName(story.refused("nobody"))).toBe(false);
});

test("the size of a decision grows with its contents", () => {
  const story = startStory({ tool_schemas: { write: {} } });
  const small = decisionBytes(story.allowed("write", {}));
  const large = decisionBytes(story.allowed("write", { text: "x".repeat(10_000) }));
  expect(large - small).toBeGreaterThanOrEqual(10_000);
  const refused = story.refused("nobody");
  expect(decisionBytes(refused)).toBeGreaterThan(refused.refusal.message.length);
});
