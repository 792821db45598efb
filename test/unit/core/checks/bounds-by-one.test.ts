// Bounds that no rule of a policy names, each just below and at its number.
import { expect, test } from "vitest";
import { emptyTrie, trieGet } from "../../../../services/collections/trie.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { MINUTE, ofType, startStory } from "../../../support/decider-spec.ts";

test("a refusal for a used-up budget lists the five latest results, the latest first", () => {
  const story = startStory({ budgets: { max_tool_calls: 7 }, tool_schemas: { look: {} } });
  const calls = [1, 2, 3, 4, 5, 6, 7].map((n) => story.done("look", { n }, `out ${n}`));
  const { earlierResults } = story.refused("look", { n: 8 }).refusal;
  const latest = calls.slice(2).reverse();
  expect(earlierResults?.map(({ ref }) => ref)).toEqual(latest.map(({ decisionId }) => decisionId));
});

test.each([2, 3, 4, 5])("a period of %i calls is a cycle in its third round", (period) => {
  const story = startStory({
    deduplication: { loop_threshold: { same_output: "off" } },
    tool_schemas: { step: { repeatable: true } },
  });
  for (let n = 0; n < 3 * period - 1; n++) story.done("step", { n: n % period }, "out");
  expect(story.reason("step", { n: period - 1 })).toBe("loop_cycle");
});

test("a period of six calls is no cycle", () => {
  const story = startStory({ tool_schemas: { step: { repeatable: true } } });
  for (let n = 0; n < 18; n++) story.done("step", { n: n % 6 }, `out ${n}`);
  expect(story.proposed("step", { n: 0 }).type).toBe("allowed");
});

test("rounds are a cycle while the latest brings no output that is new for its call", () => {
  const story = startStory({ tool_schemas: { step: { repeatable: true } } });
  for (let n = 0; n < 5; n++) story.done("step", { n: n % 2 }, `out ${n}`);
  story.done("step", { n: 1 }, "out 1");
  story.done("step", { n: 0 }, "out 4");
  expect(story.reason("step", { n: 1 })).toBe("loop_cycle");
});

test("one repeated call is no cycle", () => {
  const story = startStory({ tool_schemas: { step: { repeatable: true } } });
  for (let n = 0; n < 8; n++) story.done("step", { n: 0 }, `out ${n}`);
  expect(story.proposed("step", { n: 0 }).type).toBe("allowed");
});

test("the seconds of a conversation end exactly at their limit", () => {
  const document = {
    budgets: { per_conversation: { max_seconds: 1 } },
    tool_schemas: { look: {} },
  };
  const early = startStory(document);
  early.allowed("look", { n: 1 });
  expect(early.after(999).proposed("look", { n: 2 }).type).toBe("allowed");
  const late = startStory(document);
  late.allowed("look", { n: 1 });
  expect(late.after(1_000).reason("look", { n: 2 })).toBe("budget_seconds");
});

test("the sentence for the user mentions results only if there are some", () => {
  const document = { budgets: { max_tool_calls: 1 }, tool_schemas: { look: {} } };
  const without = startStory(document);
  without.allowed("look", { n: 1 });
  expect(without.refused("look", { n: 2 }).refusal.userMessage).not.toMatch(/found so far/);
  const some = startStory(document);
  some.done("look", { n: 1 }, "found");
  expect(some.refused("look", { n: 2 }).refusal.userMessage).toMatch(/found so far/);
});

test("two identical calls are a loop where the policy sets the threshold to two", () => {
  const loop_threshold = { same_output: 2 } as const;
  const document = {
    deduplication: { loop_threshold },
    tool_schemas: { ping: { repeatable: true } },
  };
  const story = startStory(document);
  story.done("ping", {}, "pong");
  expect(story.reason("ping")).toBe("loop_repeat");
});

test("a call exactly as similar as the threshold is a near duplicate", () => {
  const similarity = [{ field: "text", threshold: 1 }];
  const checks = { near_duplicate: "enforce" } as const;
  const story = startStory({ checks, tool_schemas: { page: { similarity } } });
  const text = Array.from({ length: 40 }, (_, n) => `word${n}`).join(" ");
  story.done("page", { text, draft: 1 });
  expect(story.reason("page", { text, draft: 2 })).toBe("near_duplicate");
});

test("without declarations another call between two equal ones does not excuse the repeat", () => {
  const story = startStory({});
  story.done("send", { to: "a" });
  story.done("send", { to: "b" });
  expect(story.after(2 * MINUTE).reason("send", { to: "a" })).toBe("duplicate_call");
});

test("the list of recent calls holds exactly as many as the policy says", () => {
  const story = startStory({
    limits: { recent_calls: 8 },
    tool_schemas: { look: { read_only: true } },
  });
  const sizes = Array.from({ length: 10 }, (_, n) => {
    story.done("look", { n }, `row ${n}`);
    return story.state?.recentCalls.length;
  });
  expect(sizes).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 8, 8]);
  expect(story.state?.recentCalls.map(({ n }) => n)).toEqual([5, 7, 9, 11, 13, 15, 17, 19]);
});

test("the oldest sketch is dropped when one more than the bound is stored", () => {
  const similarity = [{ field: "text", threshold: 0.9, with: ["path"] }];
  const story = startStory({ tool_schemas: { page: { similarity } } });
  for (let path = 0; path < 130; path += 1) story.done("page", { path, text: "a b c d" });
  expect(story.state?.sketches.size).toBe(128);
});

test("manual grants for tools end at their bound", () => {
  const tiers = [{ name: "reads", pattern: "get_*", action: "allowlist" }] as const;
  const story = startStory({ authorization: { tiers } });
  story.done("get_0");
  const grant = (n: number) => story.said({ kind: "grant", tool: `get_${n}` }).type;
  const types = Array.from({ length: 257 }, (_, n) => grant(n));
  expect(types.slice(0, 256).every((type) => type === "ruled")).toBe(true);
  expect([types[256], grant(0)]).toEqual(["ignored", "ruled"]);
});

test("a write with a cost touches only the resources that it declares", () => {
  const story = startStory({
    budgets: { max_spend: { amount: "5.00", currency: "EUR" } },
    tool_schemas: {
      get: { read_only: true, reads: ["order/{id}"] },
      set: { effects: [{ resource: "order/{id}", kind: "update" }] },
    },
  });
  for (const id of [1, 3]) story.done("get", { id });
  const estimatedCost = { microUnits: 1, currency: "EUR" };
  const call = story.allowed("set", { id: 2 }, { estimatedCost });
  expect(story.reason("get", { id: 1 })).toBe("duplicate_call");
  story.reported(call, { output: "set" });
  expect(story.reason("get", { id: 3 })).toBe("duplicate_call");
});

test("each call in flight reserves its estimated cost once in every budget", () => {
  const max_spend = { amount: "5.00", currency: "EUR" };
  const story = startStory({
    budgets: { max_spend, per_conversation: { max_spend }, per_tool: { max_spend } },
    tool_schemas: { pay: {} },
  });
  const estimatedCost = { microUnits: 3, currency: "EUR" };
  const [first] = [1, 2].map((n) => story.allowed("pay", { n }, { estimatedCost }));
  const spent = () => [
    story.state?.totals.spent,
    story.state?.turn.spent,
    trieGet(story.state?.tools ?? emptyTrie<never>(), "pay")?.spent,
  ];
  const once = (microUnits: number) => [{ microUnits, currency: "EUR" }];
  expect(spent()).toEqual([once(6), once(6), once(6)]);
  if (first !== undefined) story.reported(first, { cost: { microUnits: 5, currency: "EUR" } });
  expect(spent()).toEqual([once(8), once(8), once(8)]);
});

test.each(["turn", "conversation", "tool"] as const)(
  "a held call is not counted twice in the budget of the %s",
  (scope) => {
    const held = (max_tool_calls: number): PolicyDocument => {
      const own = { max_tool_calls };
      const wider = { per_conversation: scope === "conversation" ? own : {} };
      const budgets = scope === "turn" ? own : scope === "tool" ? { per_tool: own } : wider;
      return { budgets, tool_schemas: { ask: { risk_level: "HIGH" } } };
    };
    const afterOne = () => {
      const story = startStory(held(2));
      story.reported(ofType(story.approved(story.held("ask", { n: 1 })), "allowed"), {});
      return { story, second: story.held("ask", { n: 2 }) };
    };
    const { story, second } = afterOne();
    expect(story.approved(second).type).toBe("allowed");
    const tight = afterOne();
    const refused = ofType(tight.story.under(held(1)).approved(tight.second), "refused");
    expect(refused.refusal.reason).toBe("budget_calls");
  },
);

test("without declarations other calls do not reset the count of identical ones", () => {
  const story = startStory({});
  for (const n of [1, 2]) {
    story.done("send", { to: "a" });
    story.done("other", { n });
    story.after(10 * MINUTE);
  }
  expect(story.reason("send", { to: "a" })).toBe("loop_repeat");
});

test("a tool without a frequency limit is never refused for its frequency", () => {
  const often = { repeatable: true, frequency: { count: 1, windowMs: MINUTE } };
  const story = startStory({ tool_schemas: { often } });
  story.done("often", { n: 1 });
  story.under({ tool_schemas: { often: { repeatable: true } } }).allowed("often", { n: 2 });
});
