/** The journal record as its schema has it. */
import type {
  CallFacts,
  CallHeld,
  CallRefused,
  DecisionBase,
  Evicted,
  Refusal,
  ResultEffects,
  SealedValue,
  VerdictRuled,
} from "../core/events.ts";
import type { CallError, Money, Vouched } from "../core/inputs.ts";
import type { JournalAnchor } from "../runtime/journal.ts";
import type { PerInput } from "../runtime/topics.ts";

export type RawName = {
  readonly tenantId: string;
  readonly conversationId: string;
  readonly callId: string;
  readonly agentId: string | null;
  readonly turn: string | null;
  readonly step: string | null;
  readonly tool: string;
};

export type RawRefusal = Omit<
  Refusal,
  "decisionId" | "callId" | "tool" | "arguments" | "policy"
> & {
  readonly decisionId: string | null;
  readonly callId: string | null;
  readonly tool: string | null;
  readonly arguments: string | null;
  readonly policy: string | null;
};

export type RawCallFacts = Omit<CallFacts, "twinKey"> & {
  /** Null: the action key of the decision. */
  readonly twinKey: string | null;
};

export type RawRefused = Pick<CallRefused, "strike" | "raised" | "cycle" | "counted" | "denial"> & {
  readonly refusal: RawRefusal;
  readonly answered: {
    readonly call: RawCallFacts;
    readonly outputDigest: string | null;
  } | null;
};

export type RawAllowed = {
  readonly keyId: string;
  readonly occurrence: {
    readonly decisionId: string | null;
    readonly openedAtMs: number;
    readonly attempt: number;
  };
  readonly notAfterMs: number;
  readonly timeLimitMs: number;
  readonly idempotencyArgument: string | null;
};

export type RawHeld = Pick<
  CallHeld,
  | "holdId"
  | "expiresAtMs"
  | "requireReason"
  | "approvals"
  | "holdNumber"
  | "ruleDigest"
  | "scope"
  | "message"
  | "rule"
>;

/** Trace context: carried by record headers as yet; the fields are null. */
export type RawTrace = { readonly traceparent: null; readonly tracestate: null };

/** CloudEvents attributes: null says that they are what the schema derives. */
export type RawCloudEvent = {
  readonly ceId: null;
  readonly ceSource: null;
  readonly ceType: null;
  readonly ceTime: null;
};

export type RawSealed = Pick<SealedValue, "path" | "keyId"> & {
  readonly nonce: Buffer;
  readonly sealed: Buffer;
};

export type RawDecision = Omit<DecisionBase, "policy" | "sealed"> &
  RawTrace & {
    readonly sealed: readonly RawSealed[];
    /** Null: that of the record. */
    readonly policy: string | null;
    readonly call: RawCallFacts | null;
    readonly allowed: RawAllowed | null;
    readonly refused: RawRefused | null;
    readonly held: RawHeld | null;
  };

export type RawCall = {
  readonly tenantId: string;
  readonly conversationId: string;
  readonly decisionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly atMs: number;
};

export type RawRecordedResult = {
  readonly status: string;
  readonly effect: string | null;
  readonly output: string | null;
  readonly outputDigest: string | null;
  readonly outputBytes: number;
  readonly whole: boolean;
  readonly error: CallError | null;
  readonly transient: boolean;
  readonly durationMs: number | null;
  readonly cost: Money | null;
  readonly evicted: Evicted | null;
  readonly effects: ResultEffects | null;
};

export type RawRuling = Omit<VerdictRuled, "type" | "kind"> & { readonly kind: string };

export type RawEvent = {
  readonly kind: string;
  readonly decision: RawDecision | null;
  readonly call: RawCall | null;
  readonly result: RawRecordedResult | null;
  readonly reconciled: {
    readonly outcome: string;
    readonly by: string;
    readonly reason: string | null;
  } | null;
  readonly ruled: RawRuling | null;
  readonly ignored: {
    readonly tenantId: string;
    readonly conversationId: string;
    readonly input: string;
    readonly why: string;
    readonly id: string | null;
  } | null;
};

export type RawProposal = RawTrace & {
  /** Null: the first event's decision has the same. */
  readonly named: RawName | null;
  readonly argumentsText: string | null;
  readonly argumentsBytes: Buffer | null;
  readonly assistantText: string | null;
  readonly estimatedCost: Money | null;
  readonly confirmation: string | null;
  readonly approvalId: string | null;
  readonly rejected: { readonly reason: string; readonly message: string } | null;
  readonly vouched: Vouched | null;
};

export type RawResult = RawTrace & {
  readonly executorId: string | null;
  readonly attempt: null;
  readonly tenantId: string;
  readonly conversationId: string;
  readonly callId: string;
  readonly decisionId: string;
  readonly status: string;
  readonly effect: string | null;
  readonly basis: string | null;
  readonly output: string | null;
  readonly outputDigest: string | null;
  readonly outputBytes: number | null;
  readonly error: CallError | null;
  readonly durationMs: number | null;
  readonly cost: Money | null;
};

export type RawVerdict = RawTrace & {
  readonly callId: string | null;
  readonly actionKey: string | null;
  readonly ruleDigest: string | null;
  readonly scope: string | null;
  readonly kind: string;
  readonly tenantId: string | null;
  readonly conversationId: string | null;
  readonly by: string | null;
  readonly reason: string | null;
  readonly approvalId: string | null;
  readonly decisionId: string | null;
  readonly outcome: string | null;
  readonly tier: string | null;
  readonly tool: string | null;
  readonly calls: number | null;
  readonly untilMs: number | null;
};

export type RawJournal = RawCloudEvent & {
  readonly seq: number;
  readonly prevHash: string;
  readonly inputKind: string;
  readonly at: {
    readonly topic: string;
    readonly partition: number;
    readonly offset: number;
    readonly appendTimeMs: number;
  } | null;
  readonly quarantineCode: string | null;
  readonly proposal: RawProposal | null;
  readonly result: RawResult | null;
  readonly verdict: RawVerdict | null;
  readonly anchor: JournalAnchor | null;
  readonly next: PerInput;
  readonly clocks: PerInput;
  readonly previousAtMs: number;
  readonly policyRevision: string;
  readonly events: readonly RawEvent[];
  readonly stateHash: string | null;
};
