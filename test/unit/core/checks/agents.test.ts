import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { MINUTE, SECOND, type Story, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  tool_schemas: {
    look: { read_only: true },
    set_status: {},
    run_tests: { repeatable: true },
    pay: { effects: [{ resource: "order/{id}", kind: "charge" }] },
    renew: { effects: [{ resource: "pass/{id}", kind: "update" }] },
  },
};

function done(story: Story, tool: string, agentId: string, args = {}): void {
  const call = story.allowed(tool, args, { agentId });
  story.reported(call, { output: "same" });
}

function failed(story: Story, agentId: string): void {
  const call = story.allowed("look", {}, { agentId });
  story.reported(call, {
    status: "failed",
    error: { code: "E1", message: "no", retryable: null },
  });
}

describe("several agents in one conversation", () => {
  test("read, test and say the same, each for itself", () => {
    const own = { agentId: "a" };
    for (const [tool, reason] of [
      ["look", "duplicate_call"],
      ["set_status", "duplicate_call"],
      ["run_tests", "loop_repeat"],
    ] as const) {
      const story = startStory(POLICY);
      for (const agentId of ["a", "b", "c", "d"]) done(story, tool, agentId);
      if (reason === "loop_repeat") done(story, tool, "a");
      expect(story.reason(tool, {}, own)).toBe(reason);
    }
  });

  test("have one effect between them, once it is declared", () => {
    const story = startStory(POLICY);
    done(story, "pay", "a", { id: "7" });
    expect(story.reason("pay", { id: "7" }, { agentId: "b" })).toBe("duplicate_call");
    done(story, "renew", "a", { id: "7" });
    expect(story.reason("renew", { id: "7" }, { agentId: "b" })).toBe("duplicate_call");
  });

  test("have failure streaks of their own", () => {
    const story = startStory(POLICY);
    for (const agentId of ["a", "b", "a", "b", "a"]) failed(story, agentId);
    expect(story.reason("look", {}, { agentId: "a" })).toBe("failure_streak");
    story.allowed("look", {}, { agentId: "b" });
  });

  test("have strikes of their own", () => {
    const story = startStory(POLICY);
    done(story, "pay", "a", { id: "7" });
    const levels = ["a", "b", "a", "b"].map(
      (agentId) => story.refused("pay", { id: "7" }, { agentId }).refusal.level,
    );
    expect(levels).toEqual([1, 1, 2, 2]);
  });

  test("have cycles of their own", () => {
    const story = startStory({ ...POLICY, checks: { loop_repeat: "off" } });
    for (const id of [1, 2, 1, 2, 1]) done(story, "run_tests", "a", { id });
    expect(story.reason("run_tests", { id: 2 }, { agentId: "a" })).toBe("loop_cycle");
    done(story, "run_tests", "b", { id: 2 });
  });
});

describe("a tool that asks a person", () => {
  const ASKING: PolicyDocument = {
    tool_schemas: {
      ...POLICY.tool_schemas,
      ask_user: {},
      watch: { volatile: true },
      slow: { retries: { max_attempts: 2 } },
      phone: { asks_user: true },
      send_mail: {},
    },
  };

  test("is a read, whose answer ends a failure streak", () => {
    const story = startStory(ASKING);
    for (const _ of [1, 2, 3]) story.failed("look");
    expect(story.done("phone").policy.isRead).toBe(true);
    for (const _ of [1, 2, 3]) story.failed("look");
    expect(story.reason("look")).toBe("failure_streak");
  });

  test("ends a loop of reads, and lets reads look again", () => {
    const story = startStory(ASKING);
    for (const _ of [1, 2]) story.after(SECOND).done("watch", {}, "same");
    story.done("look", {}, "same");
    story.refused("look");
    story.done("ask_user", {}, "try now");
    story.done("watch", {}, "same");
    story.done("look", {}, "same");
    expect(story.reason("look")).toBe("duplicate_call");
  });

  test("lets a call be tried again that `retries` would refuse", () => {
    const story = startStory(ASKING);
    for (const _ of [1, 2]) story.failed("slow", {}, "503");
    expect(story.reason("slow")).toBe("retry_exhausted");
    story.done("ask_user", {}, "it works again");
    story.allowed("slow");
  });

  test("excuses no equal write", () => {
    const story = startStory(ASKING);
    story.done("send_mail", { to: "ann" });
    story.done("ask_user", {}, "no");
    expect(story.reason("send_mail", { to: "ann" })).toBe("duplicate_call");
  });

  test("may be called where the agent must ask the user, and its answer lifts that", () => {
    const story = startStory({ ...ASKING, escalation: { user_input: 1 } });
    story.done("send_mail");
    story.refused("send_mail");
    expect(story.reason("look")).toBe("user_input_required");
    story.done("ask_user", {}, "go on");
    story.allowed("look");
  });

  test("changes nothing while nobody has answered", () => {
    const story = startStory({ ...ASKING, escalation: { user_input: 1 } });
    story.done("send_mail");
    story.refused("send_mail");
    story.reported(story.allowed("ask_user"), { status: "failed", error: null });
    expect(story.reason("look")).toBe("user_input_required");
  });

  test.each([
    "ask_user",
    "AskUserQuestion",
    "ask-human",
    "mcp__desk__ask_user",
    "desk/ask_user",
    "desk.ask_user",
  ])("is known by the name %s", (tool) => {
    const story = startStory({ tool_schemas: { [tool]: {} } });
    expect(story.done(tool).facts.more?.asksUser).toBe(true);
  });

  test.each([
    ["ask_user", { read_only: false }],
    ["ask_user", { asks_user: false }],
    ["ask_user", { side_effect_resource: "ticket" }],
    ["ask_user", { effects: [{ resource: "ticket", kind: "create" as const }] }],
    ["ask_user_to_pay", {}],
    ["task_user", {}],
  ])("is not %s with %j", (tool, entry) => {
    const story = startStory({ tool_schemas: { [tool]: entry } });
    const call = story.done(tool);
    expect([call.facts.more?.asksUser ?? false, call.policy.isRead]).toEqual([false, false]);
  });

  test("is forgotten with the turn", () => {
    const story = startStory(ASKING);
    story.done("ask_user");
    story.turn("2").after(2 * MINUTE);
    for (const _ of [1, 2, 3]) story.failed("look");
    expect(story.reason("look")).toBe("failure_streak");
  });
});
