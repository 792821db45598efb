import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { MINUTE, startStory } from "../../../support/decider-spec.ts";

const EXPIRES_MS = 15 * MINUTE;

const POLICY: PolicyDocument = {
  authorization: {
    tiers: [{ name: "large", pattern: "drop_*", action: "hitl", expires_ms: EXPIRES_MS }],
  },
  tool_schemas: {
    drop_it: { effects: [{ resource: "thing/{thing}", kind: "delete" }] },
    // Needs approval only where it is large.
    pay: {
      effects: [{ resource: "order/{order}/payment", kind: "update" }],
      variants: { argument: "size", rules: [{ equals: ["large"], tier: "large" }] },
    },
    // Reads where its argument says so.
    both: {
      effects: [{ resource: "order/{order}", kind: "update" }],
      variants: {
        argument: "do",
        rules: [
          { equals: ["look"], read_only: true },
          { equals: ["clear"], tier: "large" },
        ],
      },
    },
  },
};

function deniedStory(tool: string, args: object, reason: string | null = "no") {
  const story = startStory(POLICY).turn("1");
  story.denied(story.held(tool, { ...args }), { reason });
  return story;
}

describe("a denied action in the same turn", () => {
  test("is refused, and not asked about again", () => {
    const { refusal } = deniedStory("drop_it", { thing: 1 }).refused("drop_it", { thing: 1 });
    expect(refusal).toMatchObject({ reason: "approval_denied", resolution: { type: "new_turn" } });
  });

  test("goes to a person again where a person confirms it", () => {
    const story = deniedStory("drop_it", { thing: 1 });
    story.held("drop_it", { thing: 1 }, { confirmation: "yes" });
  });

  test("is remembered until the hold would have ended, and no longer", () => {
    const story = deniedStory("drop_it", { thing: 1 });
    story.after(EXPIRES_MS - 1);
    expect(story.reason("drop_it", { thing: 1 })).toBe("approval_denied");
    story.after(1).held("drop_it", { thing: 1 });
  });

  test("is shown with who denied it, and with the reason where there was one", () => {
    const plain = deniedStory("drop_it", { thing: 1 }, null).refused("drop_it", { thing: 1 });
    expect(plain.refusal.message).toMatch(/Denied by "[^"]+"\. /);
    expect(plain.refusal.message).not.toContain("reason:");
    const reasoned = deniedStory("drop_it", { thing: 1 }, "not now").refused("drop_it", {
      thing: 1,
    });
    expect(reasoned.refusal.message).toContain('reason: "not now".');
  });
});

describe("another form of a denied action", () => {
  test("runs where a person confirms it, or where it only reads", () => {
    const story = deniedStory("pay", { order: 1, size: "large" });
    story.held("pay", { order: 1, size: "small" });
    story.allowed("pay", { order: 1, size: "tiny" }, { confirmation: "yes" });
    const reading = deniedStory("both", { order: 1, do: "clear" });
    reading.held("both", { order: 1, do: "update" });
    reading.allowed("both", { order: 1, do: "look" });
  });
});

test("a denial that is over makes room for later ones", () => {
  const story = deniedStory("drop_it", { thing: 1 });
  story.after(EXPIRES_MS).turn("2");
  story.denied(story.held("drop_it", { thing: 2 }), { reason: "no" });
  expect(story.state?.denials.map(({ untilMs }) => untilMs)).toEqual([story.nowMs + EXPIRES_MS]);
});
