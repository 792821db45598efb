import { describe, expect, test } from "vitest";
import { startStory } from "../../../support/decider-spec.ts";

describe("a rule that is not enforced", () => {
  const notes = (mode: "warn" | "shadow") => {
    const story = startStory({ checks: { duplicate_call: mode }, tool_schemas: { write: {} } });
    story.done("write");
    return story.allowed("write");
  };

  test("tells the model that the call runs, where it warns", () => {
    const {
      notices: { warnings, shadow },
    } = notes("warn");
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatchObject({ reason: "duplicate_call", rule: "deduplication" });
    expect(warnings[0]?.message).toMatch(/^This call runs: /);
    expect(shadow).toEqual([]);
  });

  test("leaves a record of what would have been said, in the shadow", () => {
    const {
      notices: { warnings, shadow },
    } = notes("shadow");
    expect(warnings).toEqual([]);
    expect(shadow).toHaveLength(1);
    expect(shadow[0]?.message).not.toContain("This call runs");
  });
});
