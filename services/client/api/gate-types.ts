/** What goes into the gate and comes out of it, for programs that use it as a library. */

import type { JsonObject } from "../../core/canonical/json-value.ts";
import type { CustomNormalizer } from "../../core/capabilities.ts";
import type { Refusal } from "../../core/events.ts";
import type { CallError, FailureEffect, Money, ResultStatus } from "../../core/inputs.ts";
import type { ReasonCode } from "../../core/reasons/reasons.ts";
import type { CallgateError } from "./callgate-error.ts";

/** One call that an agent wants to make. Ids are printable ASCII, at most 256 characters. */
export type ProposedCall = {
  readonly conversationId: string;
  /** Default `default`; contains no `/`. */
  readonly tenantId?: string | undefined;
  readonly agentId?: string | undefined;
  /** One user message and what follows. Without it, budgets and the ladder know no turns. */
  readonly turn?: string | number | undefined;
  /** One model message: the calls of one step were issued together. */
  readonly step?: string | number | undefined;
  /**
   * The model's id of the call, unique within the step. Proposing again under the same id gives the
   * recorded decision. Absent: a new one is made.
   */
  readonly callId?: string | undefined;
  readonly tool: string;
  /** An object, or the JSON text that the model wrote. */
  readonly arguments: object | string;
  /** What the model said with the call. */
  readonly assistantText?: string | undefined;
  readonly estimatedCost?: Money | undefined;
  /** Id of a user's confirmation that the platform vouches for. */
  readonly confirmation?: string | undefined;
  /**
   * Of a held call that is asked for again in another turn or step, with the same arguments: what was approved under it
   * runs once. Of any other call it says nothing.
   */
  readonly approvalId?: string | undefined;
};

/** Why there is no decision; only clients say so, and the call may be proposed again. */
export type UnavailableDetail = "restoring" | "not_owner" | "no_policy" | "timeout" | "closed";

/** What to tell the model of a call that does not run (yet). */
export type CallRefusal = Refusal & {
  readonly schemaVersion: 1;
  readonly callId: string;
  readonly tool: string;
  /** First characters of the canonical form. */
  readonly arguments: string;
  /** Revision of the policy that decided, `sha256:…`; empty where none did. */
  readonly policy: string;
  /** Absent with `gate_unavailable`: nothing was decided. */
  readonly decisionId?: string;
  /** Only with `gate_unavailable`. */
  readonly detail?: UnavailableDetail;
  /** Only with `gate_unavailable`, for the operator: the error behind it, where there is one. */
  readonly problem?: string;
};

export type Warning = { readonly reason: ReasonCode; readonly message: string };

/** What every decision says. */
type DecisionOf<Outcome extends string> = {
  readonly outcome: Outcome;
  readonly callId: string;
  readonly tool: string;
  readonly isRead: boolean;
  /** The same proposal was decided before, and this is that decision. */
  readonly repeated: boolean;
  readonly warnings: readonly Warning[];
};

/** The call may run. */
export type AllowedDecision = DecisionOf<"allowed"> & {
  readonly decisionId: string;
  /** As the gate read them; the tool's `idempotency_argument` holds the key. */
  readonly arguments: JsonObject;
  /** The same for every retry of one meant execution. Never stored; only where the secret is at hand. */
  readonly idempotencyKey?: string;
  /** The call must not be started after this (ms since the epoch). */
  readonly notAfter: number;
  /** How long the call may run. */
  readonly timeLimitMs: number;
  readonly refusal?: never;
  readonly approvalId?: never;
  readonly expiresAt?: never;
};

/** The call does not run. */
export type RefusedDecision = DecisionOf<"refused"> & {
  /** Absent where the gate gave no decision (`gate_unavailable`). */
  readonly decisionId?: string;
  /** As the gate read them; null where they could not be read. */
  readonly arguments: JsonObject | null;
  /** What to tell the model. */
  readonly refusal: CallRefusal;
  readonly idempotencyKey?: never;
  readonly notAfter?: never;
  readonly timeLimitMs?: never;
  readonly approvalId?: never;
  readonly expiresAt?: never;
};

/** The call waits for a verdict. */
export type HeldDecision = DecisionOf<"held"> & {
  readonly decisionId: string;
  readonly arguments: JsonObject | null;
  /** What to tell the model meanwhile. */
  readonly refusal: CallRefusal;
  /** What `approve` and `deny` take. */
  readonly approvalId: string;
  /** When the hold ends as a refusal (ms since the epoch). */
  readonly expiresAt: number;
  readonly idempotencyKey?: never;
  readonly notAfter?: never;
  readonly timeLimitMs?: never;
};

/** After a look at `outcome` it is known which members are there. */
export type Decision = AllowedDecision | RefusedDecision | HeldDecision;

/**
 * `recorded: false`: the journal has the report, and it changes nothing: how the call ended was told before
 * (`already_reported`), or it was never allowed, or was forgotten while that was not known (`unknown_call`), or the decision
 * is another call's (`wrong_call`). Reporting twice is no error.
 */
export type ReportOutcome =
  | {
      readonly recorded: true;
      /** As reported: nothing overrides it. */
      readonly status: ResultStatus;
    }
  | {
      readonly recorded: false;
      readonly why: "unknown_call" | "already_reported" | "wrong_call";
    };

export type Verdict = {
  /** Who says so. */
  readonly by: string;
  readonly reason?: string;
};

/** Which of the calls that wait are listed; without members all are. */
export type PendingFilter = {
  readonly tenantId?: string;
  readonly conversationId?: string;
};

/** A call that waits for a person. */
export type PendingCall = {
  /** What `approve`, `deny` and a call that asks again take. */
  readonly approvalId: string;
  readonly decisionId: string;
  readonly tenantId: string;
  readonly conversationId: string;
  readonly agentId: string | null;
  readonly callId: string;
  readonly tool: string;
  /** Sensitive values as digests. */
  readonly arguments: JsonObject;
  /** Since when, and when the hold ends as a refusal (ms since the epoch). */
  readonly heldAt: number;
  readonly expiresAt: number;
  /** Why it waits; of a call like one that was denied a moment ago, that as well. */
  readonly message: string;
  readonly rule: string;
  readonly requireReason: boolean;
  /** How many people must approve, and who has. */
  readonly approvals: number;
  readonly approvedBy: readonly string[];
  /** Which rule further calls would be given of, and which other rules of the tool would still ask. */
  readonly further: { readonly of: string; readonly notOf: readonly string[] };
};

export type Approval = Verdict & {
  /**
   * And further calls of the tool that come under the same rule may run in the conversation: so many (default 1), until
   * then. Under another rule of the tool they are still asked for.
   */
  readonly further?: {
    readonly calls?: number | "any";
    /** Unix time in ms; without it, as long as the conversation lasts. */
    readonly untilMs?: number;
  };
};

/** The output of an earlier call. */
export type StoredResult = {
  readonly decisionId: string;
  /** As reported; a handler's output is `failed` in a form that says so, or where an error pattern of the tool matches. */
  readonly status: ResultStatus;
  /**
   * Of a failed call: `none`, it certainly took no effect; `possible`, it failed and may have taken effect, so that it goes
   * on under its key until `report` or a reconciliation says what became of it. Null: it did not fail.
   */
  readonly effect: FailureEffect | null;
  /** What the executor said of a failure; null: nothing. */
  readonly error: CallError | null;
  /**
   * As it was reported. Where not `whole`: the beginning as text, or what JSON has of it, or nothing (undefined). Undefined and
   * `whole`: there was none.
   */
  readonly output: unknown;
  /** False: only the beginning is kept, or JSON cannot give back what was reported (dates, maps). */
  readonly whole: boolean;
  readonly bytes: number;
  readonly digest: string | null;
};

/** Where a call that `guard` wraps belongs. */
export type GuardContext = Pick<
  ProposedCall,
  "conversationId" | "tenantId" | "agentId" | "turn" | "step" | "confirmation" | "assistantText"
> & {
  /** Gives up waiting, and aborts what runs. */
  readonly signal?: AbortSignal | undefined;
  /** `wait`: a held call waits for its verdict instead of returning `Refused`. Default `return`. */
  readonly onHeld?: "return" | "wait" | undefined;
};

/** Is told of each decision before the call goes on. What it throws changes nothing. */
export type DecisionListener = (decision: Decision) => void;

/** How guarded tools answer. */
export type GuardOptions<Form extends AnswerForm = AnswerForm> = {
  readonly answers?: Form | undefined;
  readonly onDecision?: DecisionListener | undefined;
};

/** Of one call: overrides the context. */
export type CallOptions = Partial<GuardContext> &
  Pick<ProposedCall, "callId" | "approvalId" | "estimatedCost">;

/** What a handler gets beside its arguments. */
export type HandlerCall = {
  readonly decisionId: string;
  readonly callId: string;
  /** Send it downstream: the same for every retry of one meant execution. */
  readonly idempotencyKey: string;
  /** Aborts at the time limit, and when the caller gives up. */
  readonly signal: AbortSignal;
};

/**
 * The platform's token for a call, where the gate takes signed proposals alone: always the same, or
 * asked for with each call that is proposed.
 */
export type ProposalToken = string | ((call: ProposedCall) => string | Promise<string>);

export type OpenOptions = {
  /** Path of a policy file, paths of several that are merged, or the policy itself as an object. */
  readonly policy: string | readonly string[] | object;
  /**
   * Normalizers of your own, by names that begin with `x_`: `{ x_order: (value) => … }`. They give a value's one
   * form, or undefined where they cannot, and must be pure: a journal is decided again elsewhere.
   */
  readonly normalizers?: Readonly<Record<string, CustomNormalizer>> | undefined;
  /** Where the log is kept, default `.callgate/`; `false` keeps nothing on disk. */
  readonly dataDir?: string | false | undefined;
  /** Idempotency keys are made with it. Default: made once and kept in the data directory. */
  readonly secret?: string | Uint8Array | undefined;
  /**
   * A set of keys (JWKS) that verifies tokens: proposals without one are refused then. Without it whoever
   * calls `propose` is trusted.
   */
  readonly proposalKeys?: { readonly keys: readonly object[] } | undefined;
  /** Goes with each proposal; needed where `proposalKeys` is set. */
  readonly token?: ProposalToken | undefined;
  /** Is told of everything that is decided: proposals of guarded tools and of `propose`, and verdicts. */
  readonly onDecision?: DecisionListener | undefined;
  /** How long `propose`, `report`, verdicts and `previousResult` may take until their answer, in ms, default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Called once if the gate loses its log or its place in it. It refuses everything from then on. */
  readonly onLost?: ((error: CallgateError) => void) | undefined;
};

export type WaitOptions = {
  /** Default, as with `Infinity`: as long as the hold lasts. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
};

/**
 * `noted` (default): the output; a text ends with a note for the model. `bare`: the output as it was returned.
 * `wrapped`: `WrappedAnswer`.
 */
export type AnswerForm = "noted" | "bare" | "wrapped";
