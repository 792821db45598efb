// The library can give every reason of the closed list but one.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { makeTokenKey } from "../../../services/adapters/tokens/token-keys.ts";
import { REASON_CODES, type ReasonCode } from "../../../services/core/reasons/reasons.ts";
import {
  gatherCheckExamples,
  type ReasonCase,
  type TellGate,
} from "../../support/gate-story/check-examples.ts";
import { outcomeOf } from "../../support/gate-story/gate-story.ts";
import { tell, tellWith } from "../../support/gate-story/tell.ts";
import { openGate } from "../../support/open-gate.ts";

const MINUTE = 60_000;

const TOOLS = {
  tool_schemas: {
    write: {},
    look: { read_only: true },
    strict: { input_schema: { type: "object", required: ["id"] } },
    make: { dedupe_window_s: 1, effects: [{ resource: "thing/{id}", kind: "create" }] },
    often: { repeatable: true, frequency: "1/min" },
  },
};
const TIERS = {
  authorization: {
    tiers: [
      { name: "never", pattern: "drop_*", action: "deny" },
      { name: "ask", pattern: "delete_*", action: "hitl", expires_ms: MINUTE },
      { name: "few", pattern: "create_*", action: "per_conversation_grant", ceiling: 1 },
      { name: "slow", pattern: "get_*", action: "allowlist", rate_limit: "1/min" },
    ],
  },
};

async function second(
  openStory: TellGate,
  policy: object,
  tool: string,
  args: object = {},
): Promise<string> {
  const story = await openStory(policy);
  await story.done(tool, { n: 1, ...args });
  return story.outcome(tool, { n: 2, ...args });
}

async function twice(openStory: TellGate, policy: object): Promise<string> {
  const story = await openStory({ ...TOOLS, ...policy });
  await story.done("write");
  await story.propose("write");
  return story.outcome("write", { other: true });
}

const enforced = (code: ReasonCode): object => ({ ...TOOLS, checks: { [code]: "enforce" } });

/** A program's own code makes the gate fail: a value that throws when it is read again. */
async function internalError(): Promise<string> {
  const raises = () => {
    let reads = 0;
    return Object.defineProperty({}, "id", {
      enumerable: true,
      get: () => {
        reads += 1;
        if (reads > 1) throw new RangeError("read once too often");
        return "a";
      },
    }) as { readonly id: string };
  };
  const story = await tellWith({
    policy: { tool_schemas: { write: { normalizers: { id: "x_raises" } } } },
    normalizers: { x_raises: raises },
  });
  const { refusal } = await story.propose("write", { id: "a" });
  expect(refusal?.message).toContain("read once too often");
  expect(await story.outcome("write", { other: 1 })).toBe("allowed");
  return refusal?.reason ?? "none";
}

const CASES: Readonly<Partial<Record<ReasonCode, ReasonCase>>> = {
  malformed: async (openStory) => (await openStory(TOOLS)).outcome("look", "{"),
  too_large: async (openStory) => (await openStory(TOOLS)).outcome("look", "x".repeat(2_000_000)),
  unauthenticated: async () => {
    const { verifying } = makeTokenKey("EdDSA", "a");
    const gate = await openGate({ policy: TOOLS, proposalKeys: { keys: [verifying] } });
    return outcomeOf(await gate.propose({ conversationId: "c", tool: "look", arguments: {} }));
  },
  call_id_conflict: async (openStory) => {
    const story = await openStory(TOOLS);
    await story.propose("look", { n: 1 }, { callId: "c", step: "s" });
    return story.outcome("look", { n: 2 }, { callId: "c", step: "s" });
  },
  unknown_tool: async (openStory) => (await openStory(TOOLS)).outcome("nobody"),
  killed: async (openStory) => (await openStory({ ...TOOLS, kill: { all: true } })).outcome("look"),
  invalid_arguments: async (openStory) => (await openStory(TOOLS)).outcome("strict"),
  conversation_ended: (openStory) =>
    twice(openStory, { escalation: { user_input: "off", end: 1 } }),
  user_input_required: (openStory) =>
    twice(openStory, { escalation: { options: 1, user_input: 1 } }),
  acknowledgement_required: (openStory) =>
    twice(openStory, { escalation: { options: 1 }, acknowledgement: { mode: "explicit" } }),
  duplicate_call: async (openStory) => {
    const story = await openStory(TOOLS);
    await story.done("write");
    return story.outcome("write");
  },
  duplicate_in_flight: async (openStory) => {
    const story = await openStory(TOOLS);
    await story.propose("write");
    return story.outcome("write");
  },
  outcome_unknown: async (openStory) => {
    const story = await openStory(TOOLS);
    await story.report(await story.propose("write"), { status: "unknown" });
    return story.outcome("write");
  },
  retry_exhausted: async (openStory) => {
    const story = await openStory({ ...TOOLS, retries: { max_attempts: 1 } });
    await story.failed("write", {}, "busy", "503");
    return story.outcome("write");
  },
  retry_too_soon: async (openStory) => {
    const retries = { max_attempts: 3, retryable_status: [503], backoff_ms: [9_000, 9_000] };
    const story = await openStory({ ...TOOLS, retries });
    await story.failed("write", {}, "busy", "503");
    return story.outcome("write");
  },
  history_full: async (openStory) => {
    const story = await openStory(TOOLS);
    let outcome = "allowed";
    for (let n = 0; n <= 256 && outcome === "allowed"; n++)
      outcome = await story.outcome("write", { n });
    return outcome;
  },
  side_effect_conflict: (openStory) => second(openStory, TOOLS, "make", { id: 7 }),
  loop_repeat: async (openStory) => {
    const story = await openStory({ tool_schemas: { ping: { repeatable: true } } });
    await story.done("ping");
    await story.done("ping");
    return story.outcome("ping");
  },
  loop_cycle: async (openStory) => {
    const story = await openStory({ tool_schemas: { ping: { repeatable: true } } });
    for (let n = 0; n < 5; n++) await story.done("ping", { n: n % 2 }, `${n}`);
    return story.outcome("ping", { n: 1 });
  },
  loop_no_progress: async (openStory) => {
    const story = await openStory(enforced("loop_no_progress"));
    for (let n = 0; n < 3; n++) await story.done("look", { n }, "same");
    return story.outcome("look", { n: 3 });
  },
  loop_rotation: async (openStory) => {
    const checks = { loop_repeat: "off", loop_cycle: "off", loop_rotation: "enforce" };
    const story = await openStory({ checks, tool_schemas: { spin: { volatile: true } } });
    for (let n = 0; n < 24; n++) await story.done("spin", { n: n % 5 }, `${n % 5}`);
    return story.outcome("spin", { n: 4 });
  },
  failure_streak: async (openStory) => {
    const story = await openStory(TOOLS);
    for (let n = 0; n < 3; n++) await story.failed("look", {}, "no", "E1");
    return story.outcome("look");
  },
  failure_run: async (openStory) => {
    const story = await openStory(enforced("failure_run"));
    for (let n = 0; n < 5; n++) await story.failed("look", { n }, "no", "E1");
    return story.outcome("look", { n: 5 });
  },
  tool_frequency: (openStory) => second(openStory, TOOLS, "often"),
  tier_denied: async (openStory) => (await openStory(TIERS)).outcome("drop_table"),
  rate_limited: (openStory) => second(openStory, TIERS, "get_order"),
  grant_exceeded: (openStory) => second(openStory, TIERS, "create_order"),
  approval_required: async (openStory) => {
    const { refusal } = await (await openStory(TIERS)).propose("delete_order");
    return refusal?.reason ?? "none";
  },
  approval_denied: async (openStory) => {
    const story = await openStory(TIERS);
    const { approvalId = "" } = await story.propose("delete_order");
    return outcomeOf(await story.gate.deny(approvalId, { by: "ann" }));
  },
  approval_expired: async (openStory) => {
    const story = await openStory(TIERS);
    const held = await story.propose("delete_order");
    story.after(MINUTE);
    return outcomeOf(await story.approve(held));
  },
  internal_error: internalError,
  gate_unavailable: async (openStory) => {
    const story = await openStory(TOOLS);
    await story.gate.close();
    return story.outcome("look");
  },
};

/** Needs partitions that two gates count differently, and the library has one: test/unit/runtime/process-batch.test.ts. */
const ONLY_ON_KAFKA = ["misrouted"];

const examples = await gatherCheckExamples();
const cases = Object.assign({}, CASES, ...examples.map(({ reasons }) => reasons)) as Readonly<
  Record<string, ReasonCase>
>;

test.each(Object.entries(cases))("%s", async (code, reasonCase) => {
  expect(await reasonCase((policy) => tell(policy))).toBe(code);
});

test("the list equals the published one, and each reason has a case", () => {
  const published = JSON.parse(
    readFileSync(new URL("../../../schemas/reasons.json", import.meta.url), "utf8"),
  ) as { readonly reasons: readonly { readonly code: string }[] };
  const codes = published.reasons.map(({ code }) => code);
  expect([...codes].sort()).toEqual([...REASON_CODES].sort());
  expect([...Object.keys(cases), ...ONLY_ON_KAFKA].sort()).toEqual([...codes].sort());
});
