import { expect, test } from "vitest";
import { loadPolicy } from "../../../../services/adapters/policy/load.ts";
import { CHECK_ROWS, explainCall } from "../../../../services/cli/explain/explain-call.ts";
import { parseRecording } from "../../../../services/cli/replay/recording.ts";
import {
  ConversationRun,
  proposalOf,
  replayPolicy,
} from "../../../../services/cli/replay/replay-conversation.ts";
import { REASON_CODES } from "../../../../services/core/reasons/reasons.ts";
import { capabilities } from "../../../../services/gate/capabilities.ts";
import { compileGatePolicy } from "../../../../services/gate/gate-policy.ts";

const TEXT = `checks: { loop_repeat: warn }
budgets: { max_tool_calls: 2 }
authorization:
  tiers:
    - { name: gone, pattern: "delete_*", action: deny }
tool_schemas:
  bill: { effects: [{ resource: "order/{id}", kind: charge, exclusive: true }] }
  pay: { effects: [{ resource: "order/{id}", kind: charge, exclusive: true }] }
  read: { read_only: true }
`;

/** Explains the last of the calls, after those before it. */
function explainLast(calls: readonly object[], text = TEXT, pauseMs = 1_000) {
  const loaded = loadPolicy([{ name: "p.yaml", text }]);
  const compiled = compileGatePolicy(loaded, capabilities);
  if (!loaded.ok || !compiled.ok) throw new Error("the policy has problems");
  const policy = replayPolicy(compiled.policy);
  const parsed = parseRecording(JSON.stringify({ id: "c", calls }));
  if (!parsed.ok) throw new Error(parsed.problem);
  const recorded = parsed.conversation.calls;
  const options = { feedRefused: false, applyStops: true, heldAllow: false };
  const run = new ConversationRun(policy, options);
  const last = recorded.length - 1;
  for (const [index, call] of recorded.slice(0, last).entries()) {
    run.propose(call, recorded[index - 1], index, pauseMs * (index + 1));
  }
  const call = recorded[last];
  if (call === undefined) throw new Error("no call");
  const nowMs = pauseMs * (last + 1);
  const state = run.stateBefore(call, recorded[last - 1], nowMs);
  return explainCall(state, proposalOf(call, last), policy, loaded.source, nowMs);
}

const check = (explanation: ReturnType<typeof explainLast>, name: string) =>
  explanation.checks.find((row) => row.check === name);

test("has a row for every reason that a check can give, in the order of the checks", () => {
  const without = ["internal_error", "gate_unavailable"];
  const inRows = CHECK_ROWS.flatMap(({ reasons }) => reasons);
  expect(inRows.toSorted()).toEqual(
    REASON_CODES.filter((code) => !without.includes(code)).toSorted(),
  );
  expect(CHECK_ROWS.map(({ number }) => Number(number))).toEqual(CHECK_ROWS.map((_, at) => at + 1));
});

test("shows for an allowed call that each check passes, with its value and policy line", () => {
  const explanation = explainLast([{ tool: "read", args: {} }]);
  expect(explanation).toMatchObject({ outcome: "allowed", reason: null, isRead: true });
  expect(explanation.checks.map(({ result }) => result)).toEqual(
    Array(CHECK_ROWS.length).fill("passes"),
  );
  expect(check(explanation, "budgets")).toMatchObject({
    value: "turn: 0 of 2 calls used",
    location: "p.yaml:2:1",
  });
  expect(check(explanation, "tool")).toMatchObject({
    location: "p.yaml:9:3",
    value: "known, a read",
  });
  expect(check(explanation, "duplicate")?.location).toBe("preset");
});

test("shows the check that decides and those that would have refused after it", () => {
  const before = [
    { tool: "bill", args: { id: 7 }, output: "ok" },
    { tool: "read", args: {}, output: "x" },
  ];
  const explanation = explainLast([...before, { tool: "pay", args: { id: 7 } }]);
  expect(explanation).toMatchObject({ outcome: "refused", reason: "budget_calls" });
  expect(check(explanation, "budgets")).toMatchObject({
    result: "decides",
    location: "p.yaml:2:12",
  });
  expect(check(explanation, "side effects")).toMatchObject({
    result: "would refuse",
    reason: "side_effect_conflict",
    value: "charge order/7",
    location: expect.stringMatching(/^p\.yaml:8:/),
  });
});

test("shows the line of a tier that denies", () => {
  const explanation = explainLast([{ tool: "delete_all", args: {} }]);
  expect(explanation).toMatchObject({ outcome: "refused", reason: "tier_denied" });
  expect(check(explanation, "tier")).toMatchObject({ result: "decides", location: "p.yaml:5:7" });
});

const DRAFTS = `tool_schemas:
  create_draft: { effects: [{ resource: "draft/{result.id}", kind: create }], idempotency_argument: key }
  send_draft: { effects: [{ resource: "draft/{id}/sending", kind: send, of: create_draft }] }
`;

test("says by what a write is compared, and which call made what an effect is on", () => {
  const made = { tool: "create_draft", args: { to: "ann" }, output: { id: "d1" }, id: "m1" };
  const first = explainLast([made, { tool: "send_draft", args: { id: " d1" } }], DRAFTS);
  expect(check(first, "side effects")?.value).toMatch(
    /^send draft\/d1\/sending \(once for all that equal calls of create_draft made: call \S+ made it\)$/,
  );
  expect(check(first, "arguments")?.value).toContain("compared without white space at the ends");
  const unknown = explainLast([made, { tool: "send_draft", args: { id: "d9" } }], DRAFTS);
  expect(check(unknown, "side effects")?.value).toContain(
    "by its id alone: no call of create_draft in this conversation made it",
  );
  expect(check(unknown, "arguments")?.value).toBe("no schema");
  const key = explainLast([made], DRAFTS);
  expect(check(key, "arguments")?.value).toBe(
    "no schema; `key` gets the gate's idempotency key, and is not compared",
  );
});

const loops = (calls: readonly object[]) => check(explainLast(calls), "loops")?.value;

test("says of each rule on repetition why it lets the call run or not", () => {
  const read = { tool: "read", args: { page: 1 }, output: "idle" };
  expect(loops([read, { ...read, at: "2026-01-01T00:00:00Z" }])).toMatch(
    /^1 equal calls remembered; refused at 3 with one output \(times, .* masked\)/,
  );
  const failed = { tool: "read", args: {}, output: "no such file", is_error: true };
  expect(loops([failed, failed, failed, failed])).toContain(
    "after 3 equal failures in a turn, or in 5 turns, a try waits 60 to 300 s",
  );
});

const FREE = `tool_schemas:
  ask_person: { asks_user: true }
  click: { repeatable: true }
  read: { read_only: true }
  watch: { read_only: true, volatile: true }
`;
const loopsOf = (calls: readonly object[]) => check(explainLast(calls, FREE), "loops")?.value;

test("says what drifting calls, rounds that move and an answer of a person count for", () => {
  const pages = Array.from({ length: 5 }, (_, page) => {
    return { tool: "read", args: { page }, output: JSON.stringify({ page, items: [] }) };
  });
  expect(loopsOf(pages)).toContain(
    "4 different calls of read gave nothing new (repeated arguments masked too): warned at 5, refused at 7 in a turn, 4 of them failed or found nothing: refused at 5",
  );
  const look = { tool: "watch", args: {}, output: "idle" };
  const looks = explainLast(Array(8).fill(look), FREE, 15_000);
  expect(check(looks, "loops")?.value).toContain(
    "7 looks in a row showed one output, so the next waits",
  );
  const rounds = Array.from({ length: 7 }, (_, n) =>
    n % 2 === 0
      ? { tool: "click", args: { on: "next" }, output: `on page ${n}` }
      : { tool: "read", args: {}, output: `page ${n}` },
  );
  expect(loopsOf(rounds)).toContain("but the last round gave a new output, so they are no cycle");
  const [first, second] = pages;
  const asked = [first ?? {}, { tool: "ask_person", args: {}, output: "go on" }, second ?? {}];
  expect(loopsOf(asked)).toContain("a person answered in this turn");
});

test("says which arguments name the try, and that memory gives no fresh answer", () => {
  const bill = { tool: "bill", args: { id: 1, idempotency_key: "k1" } };
  expect(check(explainLast([bill]), "arguments")?.value).toContain(
    "idempotency_key name the try and not what is done",
  );
});

test("says that tools pass one task on", () => {
  const tasks = [
    "find the policy",
    "read the policy",
    "check the date",
    "ask the desk",
    "try again",
    "look once more",
    "write it down",
    "send it over",
  ];
  const calls = tasks.map((task, n) => {
    return { tool: n % 2 === 0 ? "plan" : "act", args: { task }, output: `answer ${n}` };
  });
  const text = "tool_schemas: { plan: {}, act: {} }";
  expect(check(explainLast(calls, text), "loops")?.value).toContain(
    "it completes 4 rounds of calls that pass one task on",
  );
});

test("says that a late acknowledgement counts", () => {
  const text =
    "acknowledgement: { mode: explicit, patterns: [instead] }\nescalation: { options: 1 }\ntool_schemas: { pay: {}, other: {} }";
  const pay = { tool: "pay", args: { id: 1 }, output: "done" };
  const calls = [pay, pay, pay, { tool: "other", args: {} }];
  expect(check(explainLast(calls, text), "conversation")?.value).toContain(
    "another call runs once the model says what it will do differently, however late",
  );
});
