// Passes the events of the real engine through the journal's encoding, and compares the folded
// states.
import fc, { type Arbitrary } from "fast-check";
import { expect, test } from "vitest";
import { loadPolicy } from "../../../services/adapters/policy/load.ts";
import { decide } from "../../../services/core/decide/decide.ts";
import type { GateEvent } from "../../../services/core/events.ts";
import type { GateInput, ProposalInput } from "../../../services/core/inputs.ts";
import { compilePolicy } from "../../../services/core/policy/compile-policy.ts";
import { evolve } from "../../../services/core/state/evolve.ts";
import type { ConversationState } from "../../../services/core/state/state.ts";
import { capabilities } from "../../../services/gate/capabilities.ts";
import { createAvroCodec } from "../../../services/wire/codec.ts";
import { stateText } from "../../support/core/state-text.ts";
import { record } from "../../support/wire/arbitraries.ts";
import { journalOf, SAMPLE_SECRETS } from "../../support/wire/samples.ts";

const codec = createAvroCodec({ secrets: SAMPLE_SECRETS });

const POLICY = {
  preset: "balanced",
  budgets: { max_tool_calls: 12 },
  authorization: {
    tiers: [
      { name: "reads", pattern: "get_*", action: "allowlist", rate_limit: "8/min" },
      {
        name: "writes",
        pattern: "create_*",
        action: "per_conversation_grant",
        ceiling: 3,
        ttl_ms: 60_000,
      },
      { name: "destructive", pattern: "delete_*", action: "hitl", expires_ms: 30_000 },
    ],
  },
  tool_schemas: {
    get_order: { read_only: true, reads: ["order/{id}"] },
    create_order: {
      effects: [{ resource: "order/{id}", kind: "create", exclusive: true }],
    },
    delete_order: { effects: [{ resource: "order/{id}", kind: "delete" }] },
    poll_job: { polling: { min_interval_ms: 1_000, max_calls: 3 }, volatile: true },
  },
} as const;

function compiled() {
  const loaded = loadPolicy(POLICY);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const options = { revision: loaded.digest, keyId: "k1" };
  const policy = compilePolicy(loaded.document, capabilities, options);
  if (!policy.ok) throw new Error(JSON.stringify(policy.problems));
  return policy.policy;
}

const policy = compiled();

// Texts of characters with two code units end up cut at every length limit.
const wide = fc
  .integer({ min: 480, max: 1_020 })
  .map((length) => `${"a".repeat(length % 2)}${"😀".repeat(length / 2)}`);
const text = fc.oneof(fc.constantFrom("1", "2"), wide);

const proposal: Arbitrary<ProposalInput> = record({
  type: fc.constant("proposal" as const),
  tenantId: fc.constant("default"),
  conversationId: fc.constant("c"),
  callId: fc.integer({ min: 0, max: 30 }).map((each) => `call-${each}`),
  agentId: fc.constant(null),
  turn: fc.constantFrom("1", "2", null),
  step: fc.constantFrom("1", "2", "3", null),
  tool: fc.constantFrom("get_order", "create_order", "delete_order", "poll_job", "unheard_of"),
  arguments: fc.oneof(
    fc.record({ id: text }).map((each) => JSON.stringify(each)),
    fc.record({ id: text }).map((each) => ` ${JSON.stringify(each)}`),
    fc.constantFrom("{}", "[", '{"a":1,"a":2}'),
  ),
  assistantText: fc.constant(null),
  estimatedCost: fc.constant(null),
  confirmation: fc.constantFrom(null, null, null, "yes"),
  rejected: fc.constantFrom(null, null, null, { reason: "malformed" as const, message: "x" }),
});

type Step = {
  readonly proposal: ProposalInput;
  readonly afterMs: number;
  readonly status: "succeeded" | "failed" | "unknown" | "started";
  readonly output: string;
  readonly verdict: "approve" | "deny" | "none";
  readonly tick: boolean;
  readonly redelivered: boolean;
};

const step: Arbitrary<Step> = record<Step>({
  proposal,
  afterMs: fc.constantFrom(10, 2_000, 40_000),
  status: fc.constantFrom("succeeded", "failed", "unknown", "started"),
  output: text,
  verdict: fc.constantFrom("approve", "deny", "none"),
  tick: fc.boolean(),
  redelivered: fc.boolean(),
});

/** How the outside answers an event: a result for an allowed call, a verdict on a held one. */
function answerTo(event: GateEvent, { status, output, verdict }: Step): GateInput | undefined {
  if (event.type === "allowed") {
    const {
      tenantId,
      conversationId,
      call: { callId },
      decisionId,
    } = event;
    const error = status === "failed" ? { code: "503", message: output, retryable: null } : null;
    const rest = { outputDigest: null, outputBytes: null, durationMs: 1, cost: null };
    const call = { tenantId, conversationId, callId, decisionId };
    return { type: "result", ...call, status, output, error, ...rest };
  }
  if (event.type !== "held" || verdict === "none") return undefined;
  return {
    type: "verdict",
    kind: verdict,
    tenantId: "default",
    conversationId: "c",
    approvalId: event.holdId,
    decisionId: null,
    outcome: null,
    tier: null,
    tool: null,
    calls: null,
    untilMs: null,
    by: "ann",
    reason: output,
  };
}

/** Kinds of events that occurred, to show that the run reached all of them. */
const seen = new Set<string>();

function run(steps: readonly Step[]): void {
  let nowMs = 1_750_000_000_000;
  let live: ConversationState | undefined;
  let replayed: ConversationState | undefined;
  const take = (input: GateInput): readonly GateEvent[] => {
    const events = decide(live, input, policy, nowMs);
    const journal = journalOf(input, events);
    const read = codec.decodeJournal(codec.encodeJournal(journal));
    expect(structuredClone(read)).toStrictEqual(journal);
    for (const event of events) live = evolve(live, event);
    for (const event of read.events) replayed = evolve(replayed, event);
    for (const { type } of events) seen.add(type);
    return events;
  };
  for (const each of steps) {
    nowMs += each.afterMs;
    for (const event of take(each.proposal)) respond(event, each, take);
    if (each.redelivered) take(each.proposal);
    if (each.tick) take({ type: "tick" });
  }
  if (live !== undefined && replayed !== undefined) {
    expect(stateText(replayed)).toBe(stateText(live));
  }
}

/** Executes an approved call, and reports its result twice. */
function respond(event: GateEvent, step: Step, take: (input: GateInput) => readonly GateEvent[]) {
  const answer = answerTo(event, step);
  if (answer === undefined) return;
  for (const next of take(answer)) {
    const later = answerTo(next, step);
    if (later === undefined) continue;
    take(later);
    take(later);
  }
}

test("events of the engine come back from the journal unchanged and fold to the same state", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => run(steps)),
    { numRuns: 300 },
  );
  expect([...seen].sort()).toEqual(
    expect.arrayContaining([
      "allowed",
      "held",
      "ignored",
      "refused",
      "repeated",
      "result_recorded",
    ]),
  );
});
