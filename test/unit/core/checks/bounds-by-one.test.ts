// Bounds that no rule of a policy names, each just below and at its number.
import { expect, test } from "vitest";
import { given, MINUTE } from "../../../support/decider-spec.ts";

test("a used-up budget names the five latest results, the latest first", () => {
  const story = given({ budgets: { max_tool_calls: 7 }, tool_schemas: { look: {} } });
  const calls = [1, 2, 3, 4, 5, 6, 7].map((n) => story.done("look", { n }, `out ${n}`));
  const { known } = story.refused("look", { n: 8 }).refusal;
  const latest = calls.slice(2).reverse();
  expect(known?.map(({ ref }) => ref)).toEqual(latest.map(({ decisionId }) => decisionId));
});

test.each([2, 3, 4, 5])("a period of %i calls is a cycle in its third round", (period) => {
  const story = given({ tool_schemas: { step: { repeatable: true } } });
  for (let n = 0; n < 3 * period - 1; n++) story.done("step", { n: n % period }, `out ${n}`);
  expect(story.reason("step", { n: period - 1 })).toBe("loop_cycle");
});

test("a period of six calls is none", () => {
  const story = given({ tool_schemas: { step: { repeatable: true } } });
  for (let n = 0; n < 18; n++) story.done("step", { n: n % 6 }, `out ${n}`);
  expect(story.proposed("step", { n: 0 }).type).toBe("allowed");
});

test("one call over and over is no cycle", () => {
  const story = given({ tool_schemas: { step: { repeatable: true } } });
  for (let n = 0; n < 8; n++) story.done("step", { n: 0 }, `out ${n}`);
  expect(story.proposed("step", { n: 0 }).type).toBe("allowed");
});

test("seconds of a conversation are over at their end and not before", () => {
  const document = {
    budgets: { per_conversation: { max_seconds: 1 } },
    tool_schemas: { look: {} },
  };
  const early = given(document);
  early.allowed("look", { n: 1 });
  expect(early.after(999).proposed("look", { n: 2 }).type).toBe("allowed");
  const late = given(document);
  late.allowed("look", { n: 1 });
  expect(late.after(1_000).reason("look", { n: 2 })).toBe("budget_seconds");
});

test("the user hears of results only where there are some", () => {
  const document = { budgets: { max_tool_calls: 1 }, tool_schemas: { look: {} } };
  const without = given(document);
  without.allowed("look", { n: 1 });
  expect(without.refused("look", { n: 2 }).refusal.userMessage).not.toMatch(/found so far/);
  const some = given(document);
  some.done("look", { n: 1 }, "found");
  expect(some.refused("look", { n: 2 }).refusal.userMessage).toMatch(/found so far/);
});

test("two identical calls are a loop where the policy says two", () => {
  const loop_threshold = { same_output: 2 } as const;
  const document = {
    deduplication: { loop_threshold },
    tool_schemas: { ping: { repeatable: true } },
  };
  const story = given(document);
  story.done("ping", {}, "pong");
  expect(story.reason("ping")).toBe("loop_repeat");
});

test("what is as similar as the threshold is a near duplicate", () => {
  const similarity = [{ field: "text", threshold: 1 }];
  const checks = { near_duplicate: "enforce" } as const;
  const story = given({ checks, tool_schemas: { page: { similarity } } });
  const text = Array.from({ length: 40 }, (_, n) => `word${n}`).join(" ");
  story.done("page", { text, draft: 1 });
  expect(story.reason("page", { text, draft: 2 })).toBe("near_duplicate");
});

test("where nothing is declared another call between two equal ones says nothing", () => {
  const story = given({});
  story.done("send", { to: "a" });
  story.done("send", { to: "b" });
  expect(story.after(2 * MINUTE).reason("send", { to: "a" })).toBe("duplicate_call");
});
