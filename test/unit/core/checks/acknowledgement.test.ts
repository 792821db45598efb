import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { type Story, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  acknowledgement: { mode: "explicit" },
  escalation: { ask: 1, options: 2, user_input: 3, end: { at: 4, lasts: "turn" } },
  tool_schemas: { write: {}, check: {}, other: {} },
};

const NO_WORD = "Let me try writing the file again";
const WORD = "Instead, I will check if pygame is installed first";

function asked(policy: PolicyDocument): Story {
  const story = startStory(policy);
  story.done("write");
  story.refused("write");
  story.refused("write");
  return story;
}

describe("the mode `explicit`", () => {
  test("asks from level 2 on, and lets a different call with an acknowledgement through", () => {
    const first = startStory(POLICY);
    first.done("write");
    first.refused("write");
    first.allowed("check");
    const story = asked(POLICY);
    story.allowed("check", {}, { assistantText: WORD });
    story.allowed("other");
  });

  test("asks again without a strike where the model says nothing", () => {
    const story = asked(POLICY);
    const { refusal, strike } = story.refused("check");
    expect(refusal).toMatchObject({ reason: "acknowledgement_required", rule: "acknowledgement" });
    expect(strike).toBeNull();
  });

  test("counts texts that acknowledge nothing by themselves, and takes the right one that comes late", () => {
    const story = asked(POLICY);
    for (const level of [1, 2]) {
      const { refusal, strike } = story.refused("check", {}, { assistantText: NO_WORD });
      expect(refusal).toMatchObject({ reason: "acknowledgement_required", level });
      expect(strike).toMatchObject({ key: "acknowledgement#agent", count: level });
    }
    story.allowed("check", {}, { assistantText: WORD });
  });

  test("stops an agent that only ever says the wrong thing", () => {
    const story = asked(POLICY);
    for (const _ of [1, 2, 3]) story.refused("check", {}, { assistantText: NO_WORD });
    expect(story.reason("check", {}, { assistantText: WORD })).toBe("user_input_required");
  });

  test("accepts no acknowledgement for the refused call itself", () => {
    const story = asked(POLICY);
    const again = story.refused("write", {}, { assistantText: WORD });
    expect(again.refusal).toMatchObject({ reason: "duplicate_call", level: 3 });
    const later = asked({ ...POLICY, deduplication: { window_ms: 1_000 } });
    const { refusal } = later.after(1_000).refused("write", {}, { assistantText: WORD });
    expect(refusal.reason).toBe("acknowledgement_required");
  });

  test("uses the patterns of the policy, in any case", () => {
    const acknowledgement = { mode: "explicit", patterns: ["^ok"], unless: ["retry"] } as const;
    const story = asked({ ...POLICY, acknowledgement });
    expect(story.reason("check", {}, { assistantText: "OK, I RETRY" })).toBe(
      "acknowledgement_required",
    );
    const other = asked({ ...POLICY, acknowledgement });
    other.allowed("check", {}, { assistantText: "OK, I check" });
  });

  test("ends with the turn", () => {
    asked(POLICY).turn("2").allowed("check");
  });

  test("is the default of `strict`", () => {
    const { preset: _preset, acknowledgement: _written, ...rest } = { ...POLICY, preset: "strict" };
    const checks = { approval_required: "off" } as const;
    const story = asked({ ...rest, preset: "strict", checks });
    expect(story.reason("check")).toBe("acknowledgement_required");
  });
});

test.each(["implicit", "off"] as const)("%s: a different call needs no acknowledgement", (mode) => {
  asked({ ...POLICY, acknowledgement: { mode } }).allowed("check");
});
