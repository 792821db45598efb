import { describe, expect, test } from "vitest";
import { startStory } from "../../../support/decider-spec.ts";

describe("a rule that is not enforced", () => {
  const notes = (mode: "warn" | "shadow") => {
    const story = startStory({ checks: { duplicate_call: mode }, tool_schemas: { write: {} } });
    story.done("write");
    return story.allowed("write");
  };

  test("says to the model that the call runs, in mode warn", () => {
    const {
      notices: { warnings, shadow },
    } = notes("warn");
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatchObject({ reason: "duplicate_call", rule: "deduplication" });
    expect(warnings[0]?.message).toMatch(/^This call runs: /);
    expect(shadow).toEqual([]);
  });

  test("records the sentence that enforcement would show, in mode shadow", () => {
    const {
      notices: { warnings, shadow },
    } = notes("shadow");
    expect(warnings).toEqual([]);
    expect(shadow).toHaveLength(1);
    expect(shadow[0]?.message).not.toContain("This call runs");
  });
});
