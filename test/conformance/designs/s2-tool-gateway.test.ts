// What the published design of an anti-spam tool gateway promises, row by row (docs/coverage.md).
import { expect, test } from "vitest";
import type { CallRefusal } from "../../../services/client/api/gate-types.ts";
import { type GateStory, outcomeOf } from "../../support/gate-story/gate-story.ts";
import { tell, templatePath } from "../../support/gate-story/tell.ts";

const NEVER_REFUSED: CallRefusal | undefined = undefined;

async function firstRefusal(
  story: GateStory,
  reason: string,
  call: (n: number) => Promise<{ readonly refusal?: CallRefusal }>,
): Promise<CallRefusal | undefined> {
  for (let n = 1; n <= 60; n++) {
    const { refusal } = await call(n);
    if (refusal?.reason === reason) return refusal;
    story.after(1);
  }
  return NEVER_REFUSED;
}

test("S2.1 search.read 47 times and http.get 19 times run once each, and the user is told", async () => {
  const story = await tell(templatePath("t2"));
  const executed: string[] = [];
  const said: (string | null | undefined)[] = [];
  const propose = async (tool: string, times: number) => {
    for (let i = 0; i < times; i++) {
      const decision = await story.done(tool, { q: "callgate" }, "the same");
      if (decision.outcome === "allowed") executed.push(tool);
      else said.push(decision.refusal?.userMessage);
    }
  };
  await propose("search.read", 47);
  story.turn(2);
  await propose("http.get", 19);
  expect(executed).toEqual(["search.read", "http.get"]);
  expect(said).toHaveLength(46 + 18);
  expect(said.filter((sentence) => typeof sentence === "string").length).toBeGreaterThan(0);
  const { refusal } = await story.propose("http.get", { q: "callgate" });
  expect(refusal?.userMessage).toMatch(/[.]$/);
  expect(refusal?.message).toMatch(/user/i);
});

test("S2.2 a step of five calls uses five of the budget of calls and one of the budget of steps", async () => {
  const story = await tell({
    budgets: { max_steps: 25, max_tool_calls: 12 },
    tool_schemas: { get: {} },
  });
  let allowed = 0;
  for (let step = 1; step <= 4; step++) {
    for (let i = 0; i < 5; i++) {
      const outcome = await story.outcome("get", { step, i }, { step: `s${step}` });
      if (outcome === "allowed") allowed += 1;
      else expect(outcome).toBe("budget_calls");
    }
  }
  expect(allowed).toBe(12);
});

test("S2.2 budgets of steps, time and money stop a run", async () => {
  const steps = await tell({ budgets: { max_steps: 2 }, tool_schemas: { get: {} } });
  await steps.done("get", { n: 1 });
  await steps.done("get", { n: 2 });
  expect(await steps.outcome("get", { n: 3 })).toBe("budget_steps");
  const time = await tell({ budgets: { max_seconds: 60 }, tool_schemas: { get: {} } });
  await time.done("get", { n: 1 });
  time.after(61_000);
  expect(await time.outcome("get", { n: 2 })).toBe("budget_seconds");
  const max_spend = { amount: "0.30", currency: "USD" };
  const spend = await tell({ budgets: { max_spend }, tool_schemas: { get: {} } });
  const estimatedCost = { microUnits: 100_000, currency: "USD" };
  for (let n = 1; n <= 3; n++) await spend.done("get", { n }, "x", { estimatedCost });
  expect(await spend.outcome("get", { n: 4 }, { estimatedCost })).toBe("budget_spend");
});

test("S2.2 reserved money is given back where the call cost less or did not run", async () => {
  const max_spend = { amount: "1.00", currency: "USD" };
  const story = await tell({ budgets: { max_spend }, tool_schemas: { get: {} } });
  const estimatedCost = { microUnits: 600_000, currency: "USD" };
  const first = await story.propose("get", { n: 1 }, { estimatedCost });
  expect(await story.outcome("get", { n: 2 }, { estimatedCost })).toBe("budget_spend");
  const cost = { microUnits: 200_000, currency: "USD" };
  await story.report(first, { status: "succeeded", output: "x", cost });
  const second = await story.propose("get", { n: 3 }, { estimatedCost });
  expect(second.outcome).toBe("allowed");
  await story.report(second, { status: "not_executed" });
  expect(await story.outcome("get", { n: 4 }, { estimatedCost })).toBe("allowed");
});

test("S2.3 a call is answered from memory for 30 s, and runs again after the window of 60 s", async () => {
  const story = await tell(templatePath("t2"));
  await story.done("search.read", { q: "a" }, "found");
  story.after(20_000);
  const answered = await story.propose("search.read", { q: "a" });
  expect(answered.refusal).toMatchObject({
    reason: "duplicate_call",
    disposition: "use_previous_result",
  });
  expect(answered.refusal?.previousResult).not.toBeNull();
  const other = await tell(templatePath("t2"));
  await other.done("search.read", { q: "a" }, "found");
  other.after(59_000);
  expect(await other.outcome("search.read", { q: "a" })).toBe("duplicate_call");
  other.after(2_000);
  other.turn(2);
  expect(await other.outcome("search.read", { q: "a" })).toBe("allowed");
});

test("S2.4 a declared volatile part of outputs does not hide a loop", async () => {
  const search = { read_only: true, volatile: true, volatile_output: ["$.took_ms"] };
  const story = await tell({ tool_schemas: { search } });
  await story.done("search", { q: "a" }, { hits: [1], took_ms: 12 });
  await story.done("search", { q: "a" }, { took_ms: 15, hits: [1] });
  expect(await story.outcome("search", { q: "a" })).toBe("loop_repeat");
});

test("S2.5 retries are decided in one place: attempts and status codes", async () => {
  const story = await tell(templatePath("t2"));
  await story.failed("http.get", { url: "a" }, "busy", "503");
  await story.failed("http.get", { url: "a" }, "busy", "503");
  expect(await story.outcome("http.get", { url: "a" })).toBe("retry_exhausted");
  await story.failed("http.get", { url: "b" }, "no such page", "404");
  expect(await story.outcome("http.get", { url: "b" })).toBe("retry_exhausted");
});

test("S2.6 repeated action keys stop the run", async () => {
  const policy = {
    escalation: { ask: 1, options: 2, user_input: 3, end: 4 },
    tool_schemas: { set: {} },
  };
  const story = await tell(policy);
  const outcomes: string[] = [];
  for (let i = 0; i < 6; i++) outcomes.push(outcomeOf(await story.done("set", { n: 1 })));
  expect(outcomes.slice(0, 4)).toEqual(["allowed", ...Array(3).fill("duplicate_call")]);
  expect(["user_input_required", "conversation_ended"]).toContain(outcomes[5]);
  expect(await story.outcome("set", { n: 2 })).not.toBe("allowed");
});

test("S2.7 stop reasons differ, and each has a sentence for the user", async () => {
  const budgets = { max_tool_calls: 2 };
  const calls = await tell({ budgets, tool_schemas: { get: {} } });
  const tooMany = await firstRefusal(calls, "budget_calls", (n) => calls.done("get", { n }));
  const time = await tell({ budgets: { max_seconds: 1 }, tool_schemas: { get: {} } });
  const tooLong = await firstRefusal(time, "budget_seconds", (n) => {
    time.after(500);
    return time.done("get", { n });
  });
  const loop = await tell({ tool_schemas: { get: { repeatable: true } } });
  const again = await firstRefusal(loop, "loop_repeat", () => loop.done("get", { n: 1 }));
  expect(tooMany?.userMessage).toMatch(/tool calls/);
  expect(tooLong?.userMessage).toMatch(/time/);
  expect(again?.userMessage).toMatch(/call that I made was refused/);
  const stops = [tooMany, tooLong, again];
  expect(stops.map((refusal) => refusal?.reason)).toEqual([
    "budget_calls",
    "budget_seconds",
    "loop_repeat",
  ]);
  expect(new Set(stops.map((refusal) => refusal?.message)).size).toBe(3);
  expect(new Set(stops.map((refusal) => refusal?.userMessage)).size).toBe(3);
});

test("S2.8 the refusal of an exhausted budget lets the model answer from what it knows", async () => {
  const story = await tell({ budgets: { max_tool_calls: 2 }, tool_schemas: { get: {} } });
  const first = await story.done("get", { n: 1 }, "one");
  const second = await story.done("get", { n: 2 }, "two");
  const { refusal } = await story.propose("get", { n: 3 });
  expect(refusal).toMatchObject({ reason: "budget_calls", disposition: "stop" });
  expect(refusal?.earlierResults?.map(({ ref }) => ref)).toEqual([
    second.decisionId,
    first.decisionId,
  ]);
  const earlierResult = await story.gate.previousResult(refusal?.earlierResults?.[0]?.ref ?? "");
  expect(earlierResult?.output).toBe("two");
});

test("S2.10 where freshness matters, a tool has a shorter memory", async () => {
  const stock = { read_only: true, cache_ttl_s: 5 };
  const story = await tell({ tool_schemas: { get_name: { read_only: true }, get_stock: stock } });
  await story.done("get_name", { id: 1 }, "screw");
  await story.done("get_stock", { id: 1 }, "7");
  story.after(6_000);
  expect(await story.outcome("get_name", { id: 1 })).toBe("duplicate_call");
  expect(await story.outcome("get_stock", { id: 1 })).toBe("allowed");
});

test("S2.11 an unknown tool is an error that names it", async () => {
  const story = await tell({ tool_schemas: { get: { read_only: true } } });
  const { refusal } = await story.propose("gett", {});
  expect(refusal).toMatchObject({ reason: "unknown_tool", tool: "gett" });
});
