// Arbitrary values of each kind that the codec knows, within what the types promise: well-formed
// text and exact whole numbers.
import fc, { type Arbitrary } from "fast-check";
import type { Decision, Evicted, Notice, SealedValue } from "../../../services/core/decision.ts";
import type {
  CallFacts,
  CallMore,
  DecisionEvent,
  EffectHolder,
  ExclusiveEffect,
  GateEvent,
  PreviousResult,
  Refusal,
} from "../../../services/core/events.ts";
import {
  type CallError,
  type GateInput,
  type Money,
  type ProposalInput,
  RESULT_STATUSES,
  type ResultInput,
  VERDICT_KINDS,
  type VerdictInput,
  type VerdictSubject,
} from "../../../services/core/inputs.ts";
import { REASON_CODES } from "../../../services/core/reasons/reasons.ts";
import { speakerProblem } from "../../../services/core/speaker.ts";
import { readToolName } from "../../../services/core/tool-name.ts";
import {
  type InputPosition,
  type JournalAnchor,
  type JournalRecord,
  QUARANTINE_CODES,
} from "../../../services/runtime/journal.ts";
import { INPUT_TOPICS, type PerInput } from "../../../services/runtime/topics.ts";

/** Plain objects, as in the core. */
export function record<T>(model: { [K in keyof T]: Arbitrary<T[K]> }): Arbitrary<T> {
  return fc.record(model, { noNullPrototype: true });
}

const text = fc.string({ unit: "binary", maxLength: 80 });
const long = fc.integer({ min: -(2 ** 52) + 1, max: 2 ** 52 - 1 });
const count = fc.integer({ min: 0, max: 2 ** 31 - 1 });
const size = fc.integer({ min: 0, max: 2 ** 52 - 1 });
const nullable = <T>(value: Arbitrary<T>): Arbitrary<T | null> => fc.option(value, { nil: null });
const list = <T>(value: Arbitrary<T>): Arbitrary<T[]> => fc.array(value, { maxLength: 4 });

/** Printable ASCII, as in ids. */
const id = fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 40 });
const tenantId = id.map((each) => each.replaceAll("/", "-"));

const money: Arbitrary<Money> = record({
  microUnits: size,
  currency: fc.constantFrom("EUR", "USD", "JPY"),
});

const callError: Arbitrary<CallError> = record({
  code: nullable(text),
  message: text,
  retryable: nullable(fc.boolean()),
});

const notice: Arbitrary<Notice> = record({
  reason: fc.constantFrom(...REASON_CODES),
  message: text,
  rule: text,
});

const evicted: Arbitrary<Evicted> = record({
  reads: list(text),
  names: list(text),
  writes: list(text),
  resources: list(text),
});

const onFailure = fc.constantFrom("conflict" as const, "warn" as const, "free" as const);

const effect: Arbitrary<ExclusiveEffect> = record({
  resource: text,
  kind: text,
  rule: text,
  ancestors: nullable(list(text)),
  onFailure,
  tenantWide: fc.boolean(),
});

const holder: Arbitrary<EffectHolder> = record({
  decisionId: text,
  callId: text,
  tool: text,
  kind: text,
  actionKey: text,
  n: fc.nat(),
  atMs: long,
  status: fc.constantFrom("held" as const, "in_flight" as const, "failed" as const),
  ancestors: nullable(list(text)),
  onFailure,
  claimant: nullable(text),
});

const more: Arbitrary<CallMore> = record({
  cost: nullable(money),
  manualGrant: nullable(text),
  pending: list(
    record({ resource: text, kind: text, exclusive: fc.boolean(), rule: text, onFailure }),
  ),
  sketches: list(record({ key: text, values: text })),
  budgets: list(
    record({ budget: text, period: fc.nat(), amount: nullable(money), isFixed: fc.boolean() }),
  ),
  asksUser: fc.boolean(),
});

const callFacts = (actionKey: Arbitrary<string>): Arbitrary<CallFacts> =>
  record({
    priorKey: fc.oneof(actionKey, text),
    resources: nullable(list(text)),
    exclusive: list(effect),
    windowUntilMs: long,
    dropAtMs: long,
    recentCallsMax: count,
    repeats: count,
    rates: list(record({ key: text, windowMs: long })),
    grant: nullable(record({ tier: text, expiresAtMs: long })),
    more: nullable(more),
  });

// Few values, so that fields which the journal writes once are often equal and often not.
const shared = fc.oneof(fc.constantFrom("a", "b"), text);

const hex = fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString("hex"));

const sealedValue: Arbitrary<SealedValue> = record({
  path: text,
  keyId: text,
  nonce: hex,
  sealed: hex,
});

const base: Arbitrary<Decision> = record({
  decisionId: shared,
  tenantId: shared,
  conversationId: shared,
  call: record({
    callId: shared,
    agentId: nullable(shared),
    turn: nullable(shared),
    step: nullable(shared),
    tool: shared,
  }),
  arguments: record({ text: shared, digest: text, actionKey: shared, sealed: list(sealedValue) }),
  policy: record({
    revision: shared,
    tier: nullable(text),
    tierRule: nullable(text),
    isRead: fc.boolean(),
  }),
  notices: record({ warnings: list(notice), shadow: list(notice) }),
  times: record({ atMs: long, proposalsAtMs: long }),
  conversation: record({
    fresh: fc.boolean(),
    dropAtMs: long,
    entersTurn: fc.boolean(),
    confirmation: nullable(text),
    evicted: nullable(evicted),
  }),
  approval: record({ approvalId: nullable(text), approvedBy: list(text) }),
});

const previousResult: Arbitrary<PreviousResult> = record({
  inline: nullable(text),
  ref: text,
  digest: nullable(text),
  bytes: size,
});

const refusal: Arbitrary<Refusal> = record({
  reason: fc.constantFrom(...REASON_CODES),
  message: text,
  duplicate: fc.boolean(),
  note: nullable(text),
  rule: text,
  level: count,
  count,
  retryable: fc.boolean(),
  disposition: fc.constantFrom(
    "use_previous_result",
    "change_approach",
    "wait",
    "ask_user",
    "stop",
  ),
  previousCall: nullable(
    record({
      callId: text,
      decisionId: text,
      tool: text,
      atMs: long,
      status: fc.constantFrom(
        "in_flight",
        "held",
        "succeeded",
        "failed",
        "not_executed",
        "unknown",
      ),
    }),
  ),
  previousResult: nullable(previousResult),
  conflict: nullable(record({ resource: text, path: list(text) })),
  resolution: record({
    type: fc.constantFrom("retry_after", "approval", "confirmation", "new_turn", "none"),
    retryAfterMs: nullable(long),
    approvalId: nullable(text),
  }),
  suggestedNext: list(text),
  problems: list(record({ path: text, message: text })),
  earlierResults: nullable(
    list(record({ ref: text, tool: text, atMs: long, digest: nullable(text) })),
  ),
  userMessage: nullable(text),
});

const allowed: Arbitrary<DecisionEvent> = fc
  .tuple(
    base,
    record({
      type: fc.constant("allowed" as const),
      keyId: text,
      execution: record({ decisionId: shared, openedAtMs: long, attempt: count }),
      notAfterMs: long,
      timeLimitMs: long,
      idempotencyArgument: nullable(text),
      facts: callFacts(shared),
    }),
  )
  .map(([common, own]) => ({ ...common, ...own }));

const held: Arbitrary<DecisionEvent> = fc
  .tuple(
    base,
    record({
      type: fc.constant("held" as const),
      holdId: text,
      expiresAtMs: long,
      requireReason: fc.boolean(),
      approvals: count,
      holdNumber: count,
      ruleDigest: text,
      scope: record({ of: text, notOf: list(text) }),
      message: text,
      rule: text,
      facts: callFacts(shared),
    }),
  )
  .map(([common, own]) => ({ ...common, ...own }));

const refused: Arbitrary<DecisionEvent> = fc
  .tuple(
    base,
    record({
      type: fc.constant("refused" as const),
      refusal,
      strike: nullable(record({ key: text, count, step: nullable(text) })),
      raised: nullable(
        record({
          acknowledgement: fc.boolean(),
          userInput: fc.boolean(),
          ended: fc.constantFrom("turn" as const, "conversation" as const, null),
        }),
      ),
      cycle: nullable(list(text)),
      counted: fc.boolean(),
      denial: nullable(record({ reason: nullable(text) })),
      answered: nullable(record({ facts: callFacts(shared), outputDigest: nullable(text) })),
    }),
  )
  .map(([common, own]) => ({ ...common, ...own }));

export const decision: Arbitrary<DecisionEvent> = fc.oneof(allowed, held, refused);

function repetitionOf(each: DecisionEvent): GateEvent {
  const { tenantId: tenant, conversationId, decisionId } = each;
  return { type: "repeated", tenantId: tenant, conversationId, decisionId, decision: each };
}

const repeated = decision.map(repetitionOf);

const about = {
  tenantId: text,
  conversationId: text,
  decisionId: text,
  callId: text,
  tool: text,
  atMs: long,
};

/** Any event, by its kind. */
export const events: { readonly [kind in GateEvent["type"]]: Arbitrary<GateEvent> } = {
  allowed,
  refused,
  held,
  repeated,
  result_recorded: record({
    type: fc.constant("result_recorded" as const),
    ...about,
    status: fc.constantFrom(...RESULT_STATUSES),
    effect: nullable(fc.constantFrom("none" as const, "possible" as const)),
    output: nullable(text),
    outputDigest: nullable(text),
    maskedDigest: nullable(text),
    outputBytes: size,
    whole: fc.boolean(),
    error: nullable(callError),
    transient: fc.boolean(),
    durationMs: nullable(size),
    cost: nullable(money),
    evicted: nullable(evicted),
    effects: nullable(record({ resources: nullable(list(text)), exclusive: list(effect) })),
  }),
  claimed: record({
    type: fc.constant("claimed" as const),
    tenantId: text,
    conversationId: text,
    resource: text,
    holders: list(holder),
    decisionId: text,
    atMs: long,
    dropAtMs: long,
  }),
  outcome_unknown: record({ type: fc.constant("outcome_unknown" as const), ...about }),
  reconciled: record({
    type: fc.constant("reconciled" as const),
    ...about,
    outcome: fc.constantFrom("succeeded", "failed", "not_executed"),
    by: text,
    reason: nullable(text),
  }),
  ruled: record({
    type: fc.constant("ruled" as const),
    tenantId: text,
    conversationId: text,
    atMs: long,
    kind: fc.constantFrom("approve", "grant", "revoke", "resume", "end"),
    approvalId: nullable(text),
    decisionId: nullable(text),
    tier: nullable(text),
    tool: nullable(text),
    ruleDigest: nullable(text),
    scope: nullable(record({ of: text, notOf: list(text) })),
    calls: nullable(count),
    untilMs: nullable(long),
    by: text,
    reason: nullable(text),
  }),
  ignored: record({
    type: fc.constant("ignored" as const),
    tenantId: text,
    conversationId: text,
    input: fc.constantFrom("result" as const, ...VERDICT_KINDS),
    why: fc.constantFrom(
      "unknown_call",
      "unknown_approval",
      "already_decided",
      "already_reported",
      "reason_required",
      "approvals_required",
      "self_approval",
      "not_unknown",
      "wrong_call",
      "unknown_conversation",
      "unknown_grant",
      "not_supported",
    ),
    id: nullable(text),
  }),
};

/** A proposal as a well-behaved writer sends it. */
/** Other names are rejected, or decoded as another name. */
function isToolName(name: string): boolean {
  const read = readToolName(name);
  return read.ok && read.name === name;
}

export const proposal: Arbitrary<ProposalInput> = record({
  type: fc.constant("proposal" as const),
  tenantId,
  conversationId: id,
  callId: id,
  agentId: nullable(id),
  turn: nullable(id),
  step: nullable(id),
  tool: id.filter(isToolName),
  arguments: fc.oneof(fc.constantFrom("a", "b"), fc.json()),
  assistantText: nullable(text),
  estimatedCost: nullable(money),
  confirmation: nullable(id),
  rejected: fc.constant(null),
});

/** A proposal as the gate may have decided it, including rejected ones and binary arguments. */
const decidedProposal: Arbitrary<ProposalInput> = fc
  .tuple(
    proposal,
    fc.oneof(shared, fc.uint8Array({ maxLength: 40 })),
    nullable(
      record({
        reason: fc.constantFrom(
          "malformed" as const,
          "too_large" as const,
          "misrouted" as const,
          "unauthenticated" as const,
          "overloaded" as const,
        ),
        message: text,
      }),
    ),
    record({
      tenantId: shared,
      conversationId: shared,
      callId: shared,
      agentId: nullable(shared),
      turn: nullable(shared),
      step: nullable(shared),
      tool: shared,
    }),
    fc.oneof(
      fc.constant({}),
      record({
        vouched: record({
          tokenId: id,
          keyId: id,
          expiresAtMs: size,
          confirms: nullable(
            record({ tool: id, callId: nullable(id), argumentsDigest: nullable(id) }),
          ),
        }),
      }),
    ),
  )
  .map(([sent, argumentsText, rejected, name, vouched]) => ({
    ...{ ...sent, ...name, arguments: argumentsText, rejected },
    ...vouched,
  }));

export const result: Arbitrary<ResultInput> = record({
  type: fc.constant("result" as const),
  tenantId,
  conversationId: id,
  callId: text,
  decisionId: text,
  status: fc.constantFrom(...RESULT_STATUSES),
  output: nullable(text),
  outputDigest: nullable(text),
  outputBytes: nullable(size),
  error: nullable(callError),
  durationMs: nullable(size),
  cost: nullable(money),
});

const VERDICTS = VERDICT_KINDS.filter((kind) => kind !== "tick");

/** At least one member: an empty subject counts as none. */
const subject: Arbitrary<VerdictSubject> = record({
  callId: nullable(text),
  actionKey: text,
  ruleDigest: nullable(text),
});

export const verdict: Arbitrary<VerdictInput> = record({
  type: fc.constant("verdict" as const),
  kind: fc.constantFrom(...VERDICTS),
  tenantId,
  conversationId: id,
  approvalId: nullable(text),
  decisionId: nullable(text),
  outcome: fc.constantFrom("succeeded" as const, "failed" as const, "not_executed" as const, null),
  tier: nullable(text),
  tool: nullable(text),
  calls: nullable(count),
  untilMs: nullable(long),
  by: text.map((name) => (speakerProblem(name) === undefined ? name : "ann")),
  reason: nullable(text),
}).chain((verdictInput) =>
  fc.option(subject).map((about) => (about === null ? verdictInput : { ...verdictInput, about })),
);

const position: Arbitrary<InputPosition> = record({
  topic: fc.constantFrom(...INPUT_TOPICS),
  partition: count,
  offset: size,
  appendTimeMs: long,
});

const perInput: Arbitrary<PerInput> = record({ proposals: size, results: size, verdicts: size });

const input: Arbitrary<GateInput> = fc.oneof(
  decidedProposal,
  result,
  verdict,
  fc.constant({ type: "tick" as const }),
);

/** A proposal whose names and arguments are written in its decision. */
const withDecision: Arbitrary<{ input: GateInput; events: GateEvent[] }> = fc
  .tuple(decidedProposal, decision, fc.boolean(), fc.boolean())
  .map(([sent, said, sameArguments, isRepetition]) => {
    const {
      tenantId: tenant,
      conversationId,
      call: { callId, agentId, turn, step, tool },
    } = said;
    const name = { tenantId: tenant, conversationId, callId, agentId, turn, step, tool };
    const argumentsText = sameArguments ? said.arguments.text : sent.arguments;
    const event = isRepetition ? repetitionOf(said) : said;
    return { input: { ...sent, ...name, arguments: argumentsText }, events: [event] };
  });

const decided = fc.oneof(
  withDecision,
  record({ input, events: list(fc.oneof(...Object.values(events))) }),
);

const entered = fc.oneof(
  fc
    .tuple(decided, position)
    .map(([each, at]) => ({ ...each, input: { type: "decided" as const, at, input: each.input } })),
  record({
    input: record({
      type: fc.constant("quarantined" as const),
      at: position,
      code: fc.constantFrom(...QUARANTINE_CODES),
    }),
    events: fc.constant<GateEvent[]>([]),
  }),
  record({
    input: record({ type: fc.constant("forwarded" as const), at: position, partition: fc.nat() }),
    events: fc.constant<GateEvent[]>([]),
  }),
  fc.constant({ input: { type: "idle" as const }, events: [] as GateEvent[] }),
);

const anchor: Arbitrary<JournalAnchor> = record({
  secrets: fc.array(record({ keyId: shared, fingerprint: text, supersededAtMs: nullable(long) }), {
    maxLength: 3,
  }),
  lostKeyIds: fc.array(shared, { maxLength: 2 }),
  accepted: nullable(
    record({
      by: text,
      reason: nullable(text),
      atMs: long,
      losses: fc.array(text, { maxLength: 2 }),
    }),
  ),
});

/** Any journal record. */
export const journalRecord: Arbitrary<JournalRecord> = fc
  .tuple(
    entered,
    record({
      seq: size,
      prevHash: text,
      next: perInput,
      clocks: perInput,
      previousAtMs: long,
      policyRevision: shared,
      stateHash: nullable(text),
      anchor: nullable(anchor),
    }),
  )
  .map(([what, rest]) => ({ ...rest, ...what }));

export const inputPosition = position;
