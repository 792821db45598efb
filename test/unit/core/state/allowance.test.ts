// A call gives its use of rates and grants back where it was not executed, and only there.
import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { stateFromText, stateText } from "../../../support/core/state-text.ts";
import {
  HOUR,
  MINUTE,
  ofType,
  SECOND,
  type Story,
  startStory,
} from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  authorization: {
    tiers: [
      {
        name: "reads",
        pattern: "get_*",
        action: "allowlist",
        rate_limit: { count: 2, windowMs: MINUTE },
      },
      { name: "few", pattern: "set_*", action: "per_conversation_grant", ceiling: 1 },
      {
        name: "more",
        pattern: "add_*",
        action: "per_conversation_grant",
        ceiling: 1,
        on_exceeded: "hitl",
      },
      {
        name: "given",
        pattern: "make_*",
        action: "per_conversation_grant",
        ceiling: 1,
        granted_by: "verdict",
      },
    ],
  },
  tool_schemas: { beep: { frequency: { count: 1, windowMs: MINUTE } } },
};

const NOT_EXECUTED = { status: "not_executed" } as const;

/** Grants are accepted for conversations that the gate has seen. */
function begun(): Story {
  const story = startStory(POLICY);
  story.done("get_a");
  return story;
}

function grant(story: Story, calls: number | null): void {
  ofType(story.said({ kind: "grant", tier: "given", calls }), "ruled");
}

describe("a rate window", () => {
  test("has room again for the call that did not run, and for no other", () => {
    const story = startStory(POLICY);
    const first = story.allowed("get_a", { n: 1 });
    story.after(SECOND).done("get_a", { n: 2 });
    expect(story.reason("get_a", { n: 3 })).toBe("rate_limited");
    story.reported(first, NOT_EXECUTED);
    story.after(SECOND).done("get_a", { n: 4 });
    const { resolution } = story.refused("get_a", { n: 5 }).refusal;
    expect(resolution.retryAfterMs).toBe(MINUTE - SECOND);
  });

  test("has room again for a tool, too, and after a reconciliation", () => {
    const story = startStory(POLICY);
    const call = story.allowed("beep", { n: 1 });
    expect(story.reason("beep", { n: 2 })).toBe("tool_frequency");
    story.reported(call, { status: "unknown" });
    expect(story.reason("beep", { n: 3 })).toBe("tool_frequency");
    story.reconciled(call, "not_executed");
    story.allowed("beep", { n: 4 });
  });

  test("is unchanged where the window of the call is over", () => {
    const story = startStory(POLICY);
    const late = story.allowed("get_a", { n: 1 });
    story.after(2 * MINUTE).done("get_a", { n: 2 });
    story.done("get_a", { n: 3 });
    story.reported(late, NOT_EXECUTED);
    expect(story.reason("get_a", { n: 4 })).toBe("rate_limited");
  });

  test.each(["succeeded", "failed"] as const)("stays used by a call that has %s", (status) => {
    const story = startStory(POLICY);
    story.reported(story.allowed("beep", { n: 1 }), { status });
    expect(story.reason("beep", { n: 2 })).toBe("tool_frequency");
  });
});

describe("a grant of the policy", () => {
  test("gets its call back, once", () => {
    const story = startStory(POLICY);
    const call = story.allowed("set_a");
    expect(story.reason("set_b")).toBe("grant_exceeded");
    story.reported(call, NOT_EXECUTED);
    expect(story.reported(call, NOT_EXECUTED)).toMatchObject({ why: "unknown_call" });
    story.done("set_b");
    expect(story.reason("set_c")).toBe("grant_exceeded");
  });

  test("neither loses nor gains a call by a hold that is denied", () => {
    const story = startStory(POLICY);
    story.done("add_a");
    story.denied(story.held("add_b"));
    story.held("add_c");
  });
});

describe("a manual grant", () => {
  test("gets its call back, and lasts as long as before", () => {
    const story = begun();
    ofType(
      story.said({ kind: "grant", tier: "given", calls: 1, untilMs: story.nowMs + HOUR }),
      "ruled",
    );
    story.reported(story.allowed("make_a"), NOT_EXECUTED);
    const call = story.allowed("make_b");
    expect(story.reason("make_c")).toBe("grant_exceeded");
    story.reported(call, NOT_EXECUTED);
    expect(story.after(HOUR).reason("make_c")).toBe("grant_exceeded");
  });

  test("gets nothing back from a call that used an earlier one", () => {
    const story = begun();
    grant(story, 1);
    const call = story.allowed("make_a");
    grant(story, 1);
    story.reported(call, NOT_EXECUTED);
    story.done("make_b");
    expect(story.reason("make_c")).toBe("grant_exceeded");
  });

  test("stays revoked", () => {
    const story = begun();
    grant(story, 1);
    const call = story.allowed("make_a");
    ofType(story.said({ kind: "revoke", tier: "given" }), "ruled");
    story.reported(call, NOT_EXECUTED);
    expect(story.reason("make_b")).toBe("grant_exceeded");
  });

  test("gets the same call back after a restart", () => {
    const story = begun();
    grant(story, 1);
    const call = story.allowed("make_a");
    if (story.state !== undefined) story.state = stateFromText(stateText(story.state));
    story.reported(call, NOT_EXECUTED);
    story.done("make_b");
    expect(story.reason("make_c")).toBe("grant_exceeded");
  });

  test("does not change where it allows any number of calls", () => {
    const story = begun();
    grant(story, null);
    story.reported(story.allowed("make_a"), NOT_EXECUTED);
    grant(story, 1);
    story.done("make_b");
    expect(story.reason("make_c")).toBe("grant_exceeded");
  });
});
