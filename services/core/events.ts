/** What the core says happened, with every fact that `evolve` needs: it knows no policy, so that any later one replays a journal. */
import type { Denial, RuleScope } from "./approval-facts.ts";
import type { Decision, Evicted } from "./decision.ts";
import type { IgnoredWhy } from "./ignored-why.ts";
import type { CallError, FailureEffect, Money, ResultStatus, VerdictKind } from "./inputs.ts";
import type { Refusal } from "./refusal.ts";

export type {
  CallStatus,
  Conflict,
  Disposition,
  EarlierResult,
  PreviousCall,
  PreviousResult,
  Refusal,
  Resolution,
} from "./refusal.ts";

export type DecisionEvent = CallAllowed | CallRefused | CallHeld;

export type GateEvent =
  | DecisionEvent
  | DecisionRepeated
  | ResultRecorded
  | OutcomeUnknown
  | CallReconciled
  | VerdictRuled
  | InputIgnored;

export type Outcome = DecisionEvent["type"];

export interface CallAllowed extends Decision {
  readonly type: "allowed";
  /** Id of the secret that the idempotency key is made with; the key itself is never journaled. */
  readonly keyId: string;
  readonly execution: Execution;
  /** An executor does not start the call after this (gate time, ms). */
  readonly notAfterMs: number;
  readonly timeLimitMs: number;
  readonly idempotencyArgument: string | null;
  readonly facts: CallFacts;
}

/** One meant execution of an action; its retries share the idempotency key. */
export interface Execution {
  /** The decision that opened it. */
  readonly decisionId: string;
  readonly openedAtMs: number;
  readonly attempt: number;
}

export interface CallHeld extends Decision {
  readonly type: "held";
  readonly holdId: string;
  readonly expiresAtMs: number;
  readonly requireReason: boolean;
  readonly approvals: number;
  readonly holdNumber: number;
  /** Digest of the tool's schema, its tier and the rule that chose it: the approval is bound to it. */
  readonly ruleDigest: string;
  /** What further calls would be given of. */
  readonly scope: RuleScope;
  readonly message: string;
  readonly rule: string;
  readonly facts: CallFacts;
}

/** What `evolve` needs to know of a call that may run (or was answered from memory). */
export interface CallFacts {
  readonly priorKey: string;
  /** Resources that the call reads or writes; null: not declared, it may touch anything. */
  readonly resources: readonly string[] | null;
  readonly exclusive: readonly ExclusiveEffect[];
  /** Until when a repeat is a duplicate (writes) or answered from memory (reads). */
  readonly windowUntilMs: number;
  /** Until when the call, as a prior call, and the resources it wrote are remembered. */
  readonly dropAtMs: number;
  readonly recentCallsMax: number;
  /** The n-th allowed repeat in a row; 0: not a repeat. */
  readonly repeats: number;
  /** Rate counters that the call advances: key and window. */
  readonly rates: readonly { readonly key: string; readonly windowMs: number }[];
  /** The grant that the call uses up, if any. */
  readonly grant: { readonly tier: string; readonly expiresAtMs: number } | null;
  /** What few calls have; null: none of it. */
  readonly more: CallMore | null;
}

export interface CallMore {
  /** What is reserved of the spend budgets until the result tells the cost. */
  readonly cost: Money | null;
  /** The key of the grant by verdict that the call uses up (`rulingKey` in `state/given.ts`). */
  readonly manualGrant: string | null;
  /** Effects on resources that only the result names. */
  readonly pending: readonly PendingEffect[];
  /** What a near duplicate is later known by. */
  readonly sketches: readonly Sketch[];
}

/** `resource` still has its `{result.path}` placeholders, see `policy/pending-resource.ts`. */
export interface PendingEffect {
  readonly resource: string;
  readonly kind: string;
  readonly exclusive: boolean;
  readonly rule: string;
  readonly onFailure: OnFailure;
}

/** What another call that wants an effect meets after a failure that may have had it. */
export type OnFailure = "conflict" | "warn" | "free";

/** `key`: of the field and of what must be equal. `values`: see `similarity/sketch.ts`. */
export interface Sketch {
  readonly key: string;
  readonly values: string;
}

export interface ExclusiveEffect {
  readonly resource: string;
  readonly kind: string;
  readonly rule: string;
  /** The ancestors of the resource by `contains` edges; null: its path alone says it. */
  readonly ancestors: readonly string[] | null;
  readonly onFailure: OnFailure;
}

export interface CallRefused extends Decision {
  readonly type: "refused";
  readonly refusal: Refusal;
  /** The loop that the refusal is a strike of, with its new count. */
  readonly strike: Strike | null;
  /** What the ladder switched on. */
  readonly raised: Raised | null;
  /** Action keys refused as a cycle from now on, until progress. */
  readonly cycle: readonly string[] | null;
  /** The call uses up budgets all the same. */
  readonly counted: boolean;
  /** A person has said no: it is remembered; null: nobody has, or the call was withdrawn. */
  readonly denial: Denial | null;
  /** A read answered from memory counts among the recent calls as its prior call does. */
  readonly answered: { readonly facts: CallFacts; readonly outputDigest: string | null } | null;
}

export interface Strike {
  readonly key: string;
  readonly count: number;
  readonly step: string | null;
}

export interface Raised {
  readonly acknowledgement: boolean;
  readonly userInput: boolean;
  readonly ended: "turn" | "conversation" | null;
}

/** The same proposal again: the whole decision as it was journaled. Changes no state. */
export interface DecisionRepeated {
  readonly type: "repeated";
  readonly tenantId: string;
  readonly conversationId: string;
  readonly decisionId: string;
  readonly decision: DecisionEvent;
}

export interface ResultRecorded {
  readonly type: "result_recorded";
  readonly tenantId: string;
  readonly conversationId: string;
  readonly decisionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly atMs: number;
  /** As reported; where nobody said it, as judged by the output. */
  readonly status: ResultStatus;
  /** Of a failed call; null: it did not fail. */
  readonly effect: FailureEffect | null;
  /** Kept output; null where none came or more came than is kept. */
  readonly output: string | null;
  /** Digest without the fields declared `volatile_output`; null: none came. */
  readonly outputDigest: string | null;
  readonly outputBytes: number;
  /** The whole output is kept: a read can be answered with it. */
  readonly whole: boolean;
  readonly error: CallError | null;
  /** The same call may succeed later: time-out, 429, 5xx. */
  readonly transient: boolean;
  readonly durationMs: number | null;
  readonly cost: Money | null;
  readonly evicted: Evicted | null;
  /** What the call turned out to have changed, where only its result names it; null: nothing of it. */
  readonly effects: ResultEffects | null;
}

export interface ResultEffects {
  /** All resources of the call; null: one of them could not be named. */
  readonly resources: readonly string[] | null;
  readonly exclusive: readonly ExclusiveEffect[];
}

/** A tick found the call past its deadline without a result. */
export interface OutcomeUnknown {
  readonly type: "outcome_unknown";
  readonly tenantId: string;
  readonly conversationId: string;
  readonly decisionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly atMs: number;
}

/** An unknown outcome was told by a person or a late result. */
export interface CallReconciled {
  readonly type: "reconciled";
  readonly tenantId: string;
  readonly conversationId: string;
  readonly decisionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly atMs: number;
  readonly outcome: "succeeded" | "failed" | "not_executed";
  readonly by: string;
  readonly reason: string | null;
}

/**
 * A verdict that decides no call by itself. grant, revoke: of a tier or tool. resume, end: of the
 * conversation. approve: one of several that a hold waits for.
 */
export interface VerdictRuled {
  readonly type: "ruled";
  readonly tenantId: string;
  readonly conversationId: string;
  readonly atMs: number;
  readonly kind: "approve" | "grant" | "revoke" | "resume" | "end";
  /** approve: the hold. */
  readonly approvalId: string | null;
  /** approve: the decision that holds the call. */
  readonly decisionId: string | null;
  /** grant, revoke: one of tier and tool. */
  readonly tier: string | null;
  readonly tool: string | null;
  /** grant of a tool: digest of the one rule whose calls it gives; null: of a tier, or no grant. */
  readonly ruleDigest: string | null;
  /** The same in words. */
  readonly scope: RuleScope | null;
  /** grant: how many calls; null: any number. */
  readonly calls: number | null;
  /** grant: until when (gate time, ms); null: as long as the conversation lasts. */
  readonly untilMs: number | null;
  readonly by: string;
  readonly reason: string | null;
}

/** A result or verdict that changes nothing, with the reason why. */
export interface InputIgnored {
  readonly type: "ignored";
  readonly tenantId: string;
  readonly conversationId: string;
  readonly input: "result" | VerdictKind;
  readonly why: IgnoredWhy;
  /** The decision or hold it named, as far as it named one. */
  readonly id: string | null;
}
