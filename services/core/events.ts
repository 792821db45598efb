/**
 * Events: what the core decided or recorded, with every fact that `evolve` needs. `evolve` knows no
 * policy, so a journal can be replayed under any later one.
 */
import type { Decision, Evicted } from "./decision.ts";
import type { CallError, FailureEffect, Money, ResultStatus, VerdictKind } from "./inputs.ts";
import type { CallStatus, Refusal } from "./refusal.ts";

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
  | ClaimChanged
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

/** One intended execution of an action; its retries share the idempotency key. */
export interface Execution {
  /** The decision that opened the execution. */
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
  /** The rule, in words, whose further calls a grant would allow. */
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
  /** Until when the call is remembered as a prior call, and the resources that it wrote. */
  readonly dropAtMs: number;
  readonly recentCallsMax: number;
  /** The n-th allowed repeat in a row; 0: not a repeat. */
  readonly repeats: number;
  /** Rate counters that the call advances: key and window. */
  readonly rates: readonly { readonly key: string; readonly windowMs: number }[];
  /** The grant that the call uses up, if any. */
  readonly grant: { readonly tier: string; readonly expiresAtMs: number } | null;
  /** Members that few calls have; null: this call has none of them. */
  readonly more: CallMore | null;
}

export interface CallMore {
  /** What is reserved of the spend budgets until the result reports the cost. */
  readonly cost: Money | null;
  /**
   * The key of the manual grant that the call uses up (`rulingKey` in `state/manual-grants.ts`).
   */
  readonly manualGrant: string | null;
  /** Effects on resources that only the result names. */
  readonly pending: readonly PendingEffect[];
  /** Sketches that later near duplicates are compared with. */
  readonly sketches: readonly Sketch[];
  /** The budgets with a name that count the call. */
  readonly budgets: readonly CountedBudget[];
  /** Whether the call asks a person, whose answer is new input. */
  readonly asksUser: boolean;
}

/** What a budget with a name counts of a call. */
export interface CountedBudget {
  readonly budget: string;
  /** The number of the turn or of the day (UTC) in which it counts; 0: it counts for the conversation. */
  readonly period: number;
  /** What the call costs; null: nobody knows. */
  readonly amount: Money | null;
  /** Whether an argument says so: then a reported cost does not take its place. */
  readonly isFixed: boolean;
}

/** `resource` still has its `{result.path}` placeholders, see `policy/pending-resource.ts`. */
export interface PendingEffect {
  readonly resource: string;
  readonly kind: string;
  readonly exclusive: boolean;
  readonly rule: string;
  readonly onFailure: OnFailure;
}

/** What happens to another call that wants an effect after a failure that may have had it. */
export type OnFailure = "conflict" | "warn" | "free";

/**
 * `key` identifies the field and the arguments that must be equal. For `values` see
 * `similarity/sketch.ts`.
 */
export interface Sketch {
  readonly key: string;
  readonly values: string;
}

export interface ExclusiveEffect {
  readonly resource: string;
  readonly kind: string;
  readonly rule: string;
  /** Ancestors of the resource by `contains` edges; null: its path alone has them. */
  readonly ancestors: readonly string[] | null;
  readonly onFailure: OnFailure;
  /** Whether it happens once in all conversations of the tenant; false: in this conversation. */
  readonly tenantWide: boolean;
}

/** A call with an exclusive effect on a resource. */
export interface EffectHolder {
  readonly decisionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly kind: string;
  readonly actionKey: string;
  /** `n` of the state when the call was allowed (CONVERSATION-3). */
  readonly n: number;
  readonly atMs: number;
  /** Failed: it may have happened all the same; a failure that had no effect frees the resource. */
  readonly status: CallStatus;
  /** Ancestors of the resource by `contains` edges; null: its path alone has them. */
  readonly ancestors: readonly string[] | null;
  readonly onFailure: OnFailure;
  /** The conversation of the call, where the effect is one of all conversations; otherwise null. */
  readonly claimant: string | null;
}

/**
 * What a decision or an outcome made of the claim to a resource (`state/claims.ts`). It follows the
 * event that changed it, and has the claim whole: no earlier event is needed.
 */
export interface ClaimChanged {
  readonly type: "claimed";
  readonly tenantId: string;
  /** The id of the claim, which no conversation can have. */
  readonly conversationId: string;
  readonly resource: string;
  /** The latest first; empty: the resource is free. */
  readonly holders: readonly EffectHolder[];
  /** The decision that changed it, or whose outcome did. */
  readonly decisionId: string;
  /** Gate time of proposals, ms. */
  readonly atMs: number;
  /** From this time on the claim counts as absent. */
  readonly dropAtMs: number;
}

export interface CallRefused extends Decision {
  readonly type: "refused";
  readonly refusal: Refusal;
  /** The loop that the refusal is a strike of, with its new count. */
  readonly strike: Strike | null;
  /** What the escalation switched on. */
  readonly raised: Raised | null;
  /** Action keys refused as a cycle from now on, until progress. */
  readonly cycle: readonly string[] | null;
  /** Whether the call uses up budgets although it is refused. */
  readonly counted: boolean;
  /** What a person denied, to be remembered; null: nobody denied the call, or it was withdrawn. */
  readonly denial: Denial | null;
  /**
   * A read that was answered from memory: it is added to the recent calls as its prior call would
   * be.
   */
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

/** The same proposal again, with the whole decision as it was journaled. Changes no state. */
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
  /** The reported status; where nobody reported one, the status that the output shows. */
  readonly status: ResultStatus;
  /** Of a failed call; null: it did not fail. */
  readonly effect: FailureEffect | null;
  /** The output; null where none came, or one larger than the gate stores. */
  readonly output: string | null;
  /** Digest of the output without the fields declared `volatile_output`; null: no output came. */
  readonly outputDigest: string | null;
  /**
   * Digest of the output, or of the error, with its volatile parts masked: a repeat of the call is compared
   * by it. Null: nothing is masked.
   */
  readonly maskedDigest: string | null;
  readonly outputBytes: number;
  /** Whether the whole output is stored, so that a read can be answered with it. */
  readonly whole: boolean;
  readonly error: CallError | null;
  /** Whether the same call may succeed later: time-out, 429, 5xx. */
  readonly transient: boolean;
  readonly durationMs: number | null;
  readonly cost: Money | null;
  readonly evicted: Evicted | null;
  /** What the call changed, where only its result names it; null: the result names nothing. */
  readonly effects: ResultEffects | null;
}

export interface ResultEffects {
  /** All resources of the call; null: the result did not name one of them. */
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

/** An unknown outcome was settled by a person or by a late result. */
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
 * A verdict that decides no call by itself. `grant` and `revoke` concern a tier or tool, `resume`
 * and `end` the conversation, `approve` is one of several approvals that a hold waits for.
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
  /**
   * Grant of a tool: digest of the one rule whose calls it grants; null: the grant is of a tier, or
   * this is no grant.
   */
  readonly ruleDigest: string | null;
  /** The same rule in words. */
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

/** Why a result or a verdict changes nothing. */
export type IgnoredWhy =
  | "unknown_call"
  | "unknown_approval"
  | "already_decided"
  | "already_reported"
  | "reason_required"
  | "approvals_required"
  | "self_approval"
  | "not_unknown"
  | "wrong_call"
  | "wrong_action"
  | "wrong_rule"
  | "unknown_conversation"
  | "unknown_grant"
  | "not_supported";

/** The rule that a person is asked about, in words. */
export interface RuleScope {
  /** Name of its tier, and of the rule where several rules have that tier. */
  readonly of: string;
  /** Other rules of the tool under which its calls may wait for a person. */
  readonly notOf: readonly string[];
}

/** A person's denial; the person is `approvedBy` of the decision. */
export interface Denial {
  readonly reason: string | null;
}
