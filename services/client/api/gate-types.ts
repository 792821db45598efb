/** Inputs and outputs of the gate, for programs that use it as a library. */

import type { JsonObject } from "../../core/canonical/json-value.ts";
import type { CustomNormalizer } from "../../core/capabilities.ts";
import type { IgnoredWhy, Refusal } from "../../core/events.ts";
import type { CallError, FailureEffect, Money, ResultStatus } from "../../core/inputs.ts";
import type { ReasonCode } from "../../core/reasons/reasons.ts";
import type { CallgateError } from "./callgate-error.ts";
import type { OpenLimits } from "./open-limits.ts";

/**
 * One call that an agent wants to make. Ids are at most 256 bytes of UTF-8 in the form NFC, without
 * control characters.
 */
export type ProposedCall = {
  readonly conversationId: string;
  /** Default `default`; contains no `/`. */
  readonly tenantId?: string | undefined;
  readonly agentId?: string | undefined;
  /** One user message and what follows it; budgets and escalation count by it. */
  readonly turn?: string | number | undefined;
  /** One model message: the calls of one step were issued together. */
  readonly step?: string | number | undefined;
  /**
   * The model's id of the call, unique within the step. Proposing again under the same id returns
   * the recorded decision. Absent: a new id is made.
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
   * The approval of a held call that is proposed again in another turn or step, with the same
   * arguments: the approved call runs once. It has no effect on any other call.
   */
  readonly approvalId?: string | undefined;
};

/** Why there is no decision. Only clients return this; the call may be proposed again. */
export type UnavailableDetail = "restoring" | "not_owner" | "no_policy" | "timeout" | "closed";

/** What to tell the model about a call that does not run (yet). */
export type CallRefusal = Refusal & {
  readonly schemaVersion: 1;
  readonly callId: string;
  readonly tool: string;
  /** The beginning of the arguments' canonical form. */
  readonly arguments: string;
  /** Revision of the policy that decided, `sha256:…`; empty if the gate did not decide. */
  readonly policy: string;
  /** Absent with `gate_unavailable`: nothing was decided. */
  readonly decisionId?: string;
  /** Only with `gate_unavailable`. */
  readonly detail?: UnavailableDetail;
  /** Only with `gate_unavailable`, for the operator: the error behind it, if there is one. */
  readonly problem?: string;
};

export type Warning = { readonly reason: ReasonCode; readonly message: string };

/** A policy that was loaded again. */
export type PolicyReload = {
  /** `unchanged`: it says what it said before. */
  readonly outcome: "loaded" | "unchanged";
  /** Revision of the policy that decides from now on, `sha256:…`. */
  readonly revision: string;
  /** Revision of the policy that decided until now. */
  readonly before: string;
  readonly error?: never;
};

/** A policy that was loaded again and cannot be used: the one before stays in force. */
export type PolicyRefusal = {
  readonly outcome: "refused";
  /** Revision of the policy that stays in force. */
  readonly revision: string;
  /** Of `policy_invalid`, `problems` has file, line and column of each problem. */
  readonly error: CallgateError;
};

/** Receives every policy that is loaded while the gate is open, and every one that is refused. */
export type PolicyListener = (news: PolicyReload | PolicyRefusal) => void;

/** Members of every decision. */
type DecisionOf<Outcome extends string> = {
  readonly outcome: Outcome;
  readonly callId: string;
  readonly tool: string;
  readonly isRead: boolean;
  /** True: the gate had decided the same proposal before, and this is that decision. */
  readonly repeated: boolean;
  readonly warnings: readonly Warning[];
};

/** The call may run. */
export type AllowedDecision = DecisionOf<"allowed"> & {
  readonly decisionId: string;
  /** Revision of the policy that decided, `sha256:…`. */
  readonly policyRevision: string;
  /** The parsed arguments; the tool's `idempotency_argument` holds the key. */
  readonly arguments: JsonObject;
  /**
   * The same for every retry of one intended execution. Never stored; present only if this process
   * has the secret.
   */
  readonly idempotencyKey?: string;
  /** The call must not start after this time (ms since the epoch). */
  readonly notAfter: number;
  /** How long the call may run. */
  readonly timeLimitMs: number;
  readonly refusal?: never;
  readonly approvalId?: never;
  readonly expiresAt?: never;
};

/** The call does not run. */
export type RefusedDecision = DecisionOf<"refused"> & {
  /** Absent if the gate did not decide (`gate_unavailable`). */
  readonly decisionId?: string;
  /** Revision of the policy that decided, `sha256:…`; absent if the gate did not decide. */
  readonly policyRevision?: string;
  /** The parsed arguments; null if they could not be parsed. */
  readonly arguments: JsonObject | null;
  /** True: `refusal.previousResult` is the answer to the call, a read that is repeated. */
  readonly answered: boolean;
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
  /** Revision of the policy that decided, `sha256:…`. */
  readonly policyRevision: string;
  readonly arguments: JsonObject | null;
  /** What to tell the model meanwhile. */
  readonly refusal: CallRefusal;
  /** The id that `approve` and `deny` take. */
  readonly approvalId: string;
  /** When the hold expires and becomes a refusal (ms since the epoch). */
  readonly expiresAt: number;
  readonly idempotencyKey?: never;
  readonly notAfter?: never;
  readonly timeLimitMs?: never;
};

/** Check `outcome` first: it determines which members exist. */
export type Decision = AllowedDecision | RefusedDecision | HeldDecision;

/** A secret of at least 16 bytes, or a list of them. */
export type SecretOption = string | Uint8Array | readonly (string | Uint8Array)[];

/**
 * `recorded: false`: the journal has the report, and the report changes nothing. Either the outcome
 * had been reported before (`already_reported`), or the call was never allowed or its conversation
 * has been forgotten (`unknown_call`), or the decision belongs to another call (`wrong_call`).
 * Reporting twice is no error.
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
  /** The person who answers. */
  readonly by: string;
  readonly reason?: string;
};

/** A conversation by its names; `tenantId` is `default` if absent. */
export type ConversationRef = {
  readonly tenantId?: string;
  readonly conversationId: string;
};

/** The calls that a grant is about: those of one tool, or those under one tier. */
export type GrantScope = Verdict &
  (
    | { readonly tool: string; readonly tier?: never }
    | { readonly tier: string; readonly tool?: never }
  );

export type GrantOrder = GrantScope & {
  /** How many calls, default 1. */
  readonly calls?: number | "any";
  /** Unix time in ms; without it, as long as the conversation lasts. */
  readonly untilMs?: number;
};

export type Reconciliation = Verdict & {
  /** `failed` and `not_executed`: the call certainly took no effect. */
  readonly outcome: "succeeded" | "failed" | "not_executed";
};

/** `taken: false`: the journal has the order, and it changed nothing; `why` says for what reason. */
export type RulingOutcome =
  | { readonly taken: true }
  | { readonly taken: false; readonly why: IgnoredWhy | "dead_letter" };

/** Selects the waiting calls to list; an empty filter selects all. */
export type PendingFilter = {
  readonly tenantId?: string;
  readonly conversationId?: string;
};

/** A call that waits for a person. */
export type PendingCall = {
  /** The id for `approve`, `deny`, and a call that is proposed again. */
  readonly approvalId: string;
  readonly decisionId: string;
  readonly tenantId: string;
  readonly conversationId: string;
  readonly agentId: string | null;
  readonly callId: string;
  readonly tool: string;
  /** Sensitive values appear as digests. */
  readonly arguments: JsonObject;
  /** When the hold began, and when it expires and becomes a refusal (ms since the epoch). */
  readonly heldAt: number;
  readonly expiresAt: number;
  /** Why the call waits; also says if a similar call was denied shortly before. */
  readonly message: string;
  readonly rule: string;
  readonly requireReason: boolean;
  /** How many people must approve, and who has approved. */
  readonly approvals: number;
  readonly approvedBy: readonly string[];
  /**
   * The rule under which further calls could be granted, and the tool's other rules that would
   * still ask.
   */
  readonly further: { readonly of: string; readonly notOf: readonly string[] };
};

export type Approval = Verdict & {
  /**
   * Also grants further calls of the tool in this conversation that match the same rule: `calls` of
   * them (default 1), until `untilMs`. Calls under another rule of the tool still need approval.
   */
  readonly further?: {
    readonly calls?: number | "any";
    /** Unix time in ms; without it, as long as the conversation lasts. */
    readonly untilMs?: number;
  };
};

/** The recorded result of an earlier call. */
export type StoredResult = {
  readonly decisionId: string;
  /**
   * As reported. A handler's output counts as `failed` if its form says so, or if an error pattern
   * of the tool matches it.
   */
  readonly status: ResultStatus;
  /**
   * Effect of a failed call. `none`: the call certainly took no effect. `possible`: it may have
   * taken effect, so a retry uses the same key until `report` or a reconciliation says what
   * happened. Null: the call did not fail.
   */
  readonly effect: FailureEffect | null;
  /** The error that the executor reported for a failure; null if it reported none. */
  readonly error: CallError | null;
  /**
   * The output as it was reported. If not `whole`: the beginning of the text, or what JSON could
   * represent, or undefined. Undefined and `whole`: the call had no output.
   */
  readonly output: unknown;
  /**
   * False: only the beginning was stored, or JSON cannot represent what was reported (dates, maps).
   */
  readonly whole: boolean;
  readonly bytes: number;
  readonly digest: string | null;
};

/** The conversation, turn and step of a call that `guard` wraps. */
export type GuardContext = Pick<
  ProposedCall,
  "conversationId" | "tenantId" | "agentId" | "turn" | "step" | "confirmation" | "assistantText"
> & {
  /** Stops waiting, and aborts the running call. */
  readonly signal?: AbortSignal | undefined;
  /**
   * `wait`: wait for the verdict on a held call instead of returning `Refused`. Default `return`.
   */
  readonly onHeld?: "return" | "wait" | undefined;
};

/** The names of the call that a decision is about; the rest is in the decision. */
export type CallNames = {
  readonly tenantId: string;
  readonly conversationId: string;
  readonly agentId: string | null;
};

/** Receives each decision before the call goes on. Errors that it throws change nothing. */
export type DecisionListener = (decision: Decision, call: CallNames) => void;

/** How guarded tools answer. */
export type GuardOptions<Form extends AnswerForm = AnswerForm> = {
  readonly answers?: Form | undefined;
  /** Receives the decisions on calls of these tools; `onDecision` of the gate receives more. */
  readonly onDecision?: DecisionListener | undefined;
};

/** Options of one call; they override the context. */
export type CallOptions = Partial<GuardContext> &
  Pick<ProposedCall, "callId" | "approvalId" | "estimatedCost">;

/** What a handler receives besides its arguments. */
export type HandlerCall = {
  readonly decisionId: string;
  readonly callId: string;
  /** Send it downstream: it is the same for every retry of one intended execution. */
  readonly idempotencyKey: string;
  /** Aborts at the time limit, and when the caller gives up. */
  readonly signal: AbortSignal;
};

/**
 * The platform's token for a call, if the gate accepts only signed proposals: one token for all
 * calls, or a function that is asked for each proposal.
 */
export type ProposalToken = string | ((call: ProposedCall) => string | Promise<string>);

export type OpenOptions = {
  /** Path of a policy file, paths of several that are merged, or the policy itself as an object. */
  readonly policy: string | readonly string[] | object;
  /** Loads the policy files again when they change; default false. `reloadPolicy` does so at once. */
  readonly watchPolicy?: boolean | undefined;
  /**
   * Receives every policy that replaces another, or that is refused because of its problems.
   * Without it, a refused one becomes a warning of the process.
   */
  readonly onPolicy?: PolicyListener | undefined;
  /**
   * Your own normalizers, by names that begin with `x_`: `{ x_order: (value) => … }`. Each returns
   * the one canonical form of a value, or undefined if it cannot. It must be pure, because a
   * journal may be decided again elsewhere.
   */
  readonly normalizers?: Readonly<Record<string, CustomNormalizer>> | undefined;
  /** Where to store the log, default `.callgate/`; `false` stores nothing on disk. */
  readonly dataDir?: string | false | undefined;
  /**
   * Memory for conversations in bytes, at least 64 KiB; the others are in the data directory.
   * Default: a quarter of what Node.js may use.
   */
  readonly memoryBytes?: number | undefined;
  /**
   * True: several processes may open the directory, each with the same options. One of them
   * decides, the others ask it; when it ends, another one goes on. Default false.
   */
  readonly shared?: boolean | undefined;
  /** Bounds on conversations; with `shared`, those of the process that decides. */
  readonly limits?: OpenLimits | undefined;
  /**
   * The secret from which idempotency keys are derived. Default: generated once and stored in the
   * data directory. Of a list the first makes new keys, and the others are those before it.
   */
  readonly secret?: SecretOption | undefined;
  /**
   * A set of keys (JWKS) that verifies tokens; proposals without a token are then refused. Without
   * it, every caller of `propose` is trusted.
   */
  readonly proposalKeys?: { readonly keys: readonly object[] } | undefined;
  /** Sent with each proposal; required if `proposalKeys` is set. */
  readonly token?: ProposalToken | undefined;
  /** Time limit for `propose`, `report`, verdicts and `previousResult`, in ms, default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Called once when the gate loses its log or its ownership of it: every later call is refused. */
  readonly onLost?: ((error: CallgateError) => void) | undefined;
};

export type WaitOptions = {
  /** Default, and with `Infinity`: as long as the hold lasts. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
};

/**
 * `noted` (default): the output; a text output ends with a note for the model. `bare`: the output
 * exactly as returned. `wrapped`: `WrappedAnswer`.
 */
export type AnswerForm = "noted" | "bare" | "wrapped";
