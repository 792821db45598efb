/**
 * What the gate remembers of one conversation. Immutable: `evolve` returns a new state and shares
 * what did not change.
 *
 * CONVERSATION-1 every collection has a bound in `limits.ts`; at a bound only reads, refusals, and
 * writes that need not stay are dropped.
 * CONVERSATION-2 an entry past its `dropAt` counts as absent.
 * CONVERSATION-3 `n` counts allowed calls and results: "since" compares `n`, never times.
 */

import { NO_MARKS } from "../../collections/bloom-filter.ts";
import { emptyLedger, type Ledger } from "../../collections/ledger.ts";
import type { Times } from "../../collections/times.ts";
import { emptyTrie, type Trie } from "../../collections/trie.ts";
import type {
  CallFacts,
  CallHeld,
  CallStatus,
  EffectHolder,
  Execution,
  Strike,
} from "../events.ts";
import type { FailureEffect } from "../inputs.ts";
import { type AllBudgetTotals, NO_BUDGETS } from "./budget-totals.ts";
import type { RememberedDenial } from "./denials.ts";
import { type EffectIndex, NO_EFFECTS } from "./effect-index.ts";
import { type HeldTime, NEVER_HELD } from "./held-time.ts";
import type { ManualGrant } from "./manual-grants.ts";
import { NOTHING_OPEN, type OpenIndex } from "./open-index.ts";
import type { CallTerms, RetainedDecision } from "./retained-decision.ts";
import { NOTHING_SPENT, type Spent } from "./spent.ts";

export interface ConversationState {
  readonly tenantId: string;
  readonly conversationId: string;
  /** Gate times of the first and the latest proposal, ms. */
  readonly startedAtMs: number;
  readonly lastAtMs: number;
  /** From this time on the conversation counts as absent, unless another call comes. */
  readonly dropAtMs: number;
  readonly n: number;
  readonly turn: TurnState;
  readonly totals: Totals;
  readonly tools: Trie<ToolTotals>;
  /** Decisions by call name: of writes and holds. */
  readonly retained: Ledger<RetainedDecision>;
  /** Decisions by call name: of reads and refusals. */
  readonly loose: Ledger<RetainedDecision>;
  /** Terms of the latest allowed calls that had new ones, the latest first: other decisions refer to them. */
  readonly terms: readonly CallTerms[];
  /** Names of writes whose decisions were dropped to make room (`forgottenKey` in `names.ts`). */
  readonly forgotten: Trie<true>;
  readonly priorReads: Ledger<PriorCall>;
  readonly priorWrites: Ledger<PriorCall>;
  /** Calls in flight, held or of unknown outcome, by decision id. */
  readonly open: Trie<OpenCall>;
  /** Writes that failed and may have taken effect, the latest of each action, oldest first (`doubts.ts`). */
  readonly doubts: readonly OpenCall[];
  /** Derived from `open` (`open-calls.ts`). */
  readonly openIndex: OpenIndex;
  readonly writes: WriteHistory;
  /**
   * Exclusive effects in force, by resource: the latest holder first, then those that it may have
   * replaced.
   */
  readonly effects: Trie<readonly EffectHolder[]>;
  /** Derived from `effects` (`effect-index.ts`). */
  readonly effectIndex: EffectIndex;
  /** The latest call of the turn under each key of a sketch. */
  readonly sketches: Ledger<Sketched>;
  /** Recent calls of all actions, oldest first. */
  readonly recentCalls: readonly RecentCall[];
  /**
   * Calls by loop key, oldest first: those of one action, which unrelated calls do not push out. An entry counts
   * as many bytes as it has calls. Empty as long as `recentCalls` has every call.
   */
  readonly actions: Ledger<readonly RecentCall[]>;
  /** Bloom filter of all loop keys in the recent calls, and of some that have left them. */
  readonly recentMarks: number;
  readonly recentOtherMarks: number;
  /** Loops with strikes, oldest first. */
  readonly strikes: readonly Strike[];
  /** Loop keys of a cycle that is refused until progress. */
  readonly cycle: readonly string[] | null;
  readonly flags: Flags;
  /** Times of the calls in each rate window. */
  readonly rates: Trie<Times>;
  readonly grants: Trie<Grant>;
  /** Confirmations used up, each with the action key that it is bound to. */
  readonly confirmations: Trie<string>;
  readonly heldTime: HeldTime;
  /** What verdicts granted or revoked, by `rulingKey` (`manual-grants.ts`). */
  readonly manualGrants: Trie<ManualGrant>;
  /** What people have denied, the latest last (`denials.ts`). */
  readonly denials: readonly RememberedDenial[];
  /**
   * Id of the secret of the first sealed value: later ones are sealed with it, so that equal values
   * stay equal.
   */
  readonly sealKeyId: string | undefined;
}

/** A mutable copy: each event fills one, field by field. */
export type StateDraft = { -readonly [K in keyof ConversationState]: ConversationState[K] };

export interface TurnState {
  readonly id: string | null;
  /** Counts turns, so that a result can tell whether its turn is still the present one. */
  readonly index: number;
  readonly startedAtMs: number;
  readonly calls: number;
  readonly steps: number;
  readonly lastStep: string | null;
  /** How long calls were held before the turn began, ms (`held-time.ts`). */
  readonly heldBeforeMs: number;
  readonly spent: Spent;
  /** `n` of the state when a person last answered a call of the turn; 0: nobody did. */
  readonly answeredN: number;
}

export interface Totals {
  readonly calls: number;
  readonly steps: number;
  readonly spent: Spent;
  readonly budgets: AllBudgetTotals;
}

/** Totals of one tool within the turn. */
export interface ToolTotals {
  readonly turnIndex: number;
  readonly turnCalls: number;
  readonly turnSteps: number;
  readonly lastStep: string | null;
  readonly startedAtMs: number;
  readonly heldBeforeMs: number;
  readonly spent: Spent;
}

/** The latest allowed call of an action key. */
export interface PriorCall {
  readonly decisionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly n: number;
  readonly atMs: number;
  readonly turn: string | null;
  readonly turnIndex: number;
  readonly step: string | null;
  readonly status: CallStatus;
  /** Until when a repeat is a duplicate (writes) or answered from memory (reads). */
  readonly windowUntilMs: number;
  /** Null: the call opened it (`executionOf` in `prior-calls.ts`). */
  readonly execution: Execution | null;
  /** Id of the secret that the idempotency key of the execution is made with. */
  readonly keyId: string;
  /**
   * Equal calls in a row before this one: those that ran after it had succeeded, and those answered
   * from memory.
   */
  readonly repeats: number;
  readonly output: string | null;
  readonly outputDigest: string | null;
  readonly outputBytes: number;
  readonly whole: boolean;
  /** Masked digest of the latest output of this action, and how many calls in a row gave it. */
  readonly lastDigest: string | null;
  readonly sameOutputs: number;
  readonly trouble: Trouble;
  /** What its own result named, where only results name what it writes; null: nothing. */
  readonly wrote: readonly string[] | null;
}

/** What few calls have: of most it is `NO_TROUBLE`. */
export interface Trouble {
  readonly errorMessage: string | null;
  /**
   * Of a failed call: whether it may have taken effect. Of one that was not executed, `none`: its
   * key was used before. Otherwise null.
   */
  readonly effect: FailureEffect | null;
  /**
   * Whether an earlier attempt of its execution may have taken effect and nobody has reported
   * whether it did.
   */
  readonly doubted: boolean;
  /** Failures in a row within the turn; null: none. */
  readonly failure: PriorFailure | null;
}

export interface PriorFailure {
  readonly count: number;
  /** When the latest failure was reported. */
  readonly atMs: number;
  readonly code: string | null;
  /** As the executor reported it. */
  readonly retryable: boolean | null;
}

export interface OpenCall {
  readonly decisionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly agentId: string | null;
  readonly actionKey: string;
  /**
   * In doubt: the call failed and may have taken effect; such calls are in `doubts`, not in `open`.
   */
  readonly status: "in_flight" | "held" | "unknown" | "in_doubt";
  readonly isRead: boolean;
  readonly n: number;
  readonly atMs: number;
  readonly turnIndex: number;
  readonly call: CallFacts;
  /** In flight: when its outcome becomes unknown. Held: when the hold ends. Unknown: never. */
  readonly deadlineMs: number | null;
  readonly started: boolean;
  /** Held calls: the decision that holds them. */
  readonly held: CallHeld | null;
  /**
   * Calls that a person was asked about: the proposal that identifies a repeated question; null:
   * nobody was asked.
   */
  readonly asked: AskedCall | null;
  /** Short arguments, as text: what an output or error repeats of them is no news; null: not stored. */
  readonly said: string | null;
  /** Held calls: who has approved so far, where several must. */
  readonly approvedBy: readonly string[];
  /** Unknown calls: `n` of the state when their outcome was found to be unknown; else null. */
  readonly unknownN: number | null;
  /** Unknown writes: what later reads showed of them (`looks-for.ts`); null: nothing that tells. */
  readonly shown: "effect" | "nothing" | null;
}

/** The proposal that was held, whatever its outcome. */
export interface AskedCall {
  readonly approvalId: string;
  readonly turn: string | null;
  readonly step: string | null;
  readonly argumentsDigest: string;
}

/** What the gate remembers of the writes to one resource. */
export interface LastWrites {
  /**
   * `n` of the state when the latest result came that may have changed something (CONVERSATION-3); 0: none
   * came.
   */
  readonly doneN: number;
  /** The two succeeded writes by different action keys that were allowed last. */
  readonly latest: LastWrite | null;
  readonly other: LastWrite | null;
  /** The writes must be remembered until this time; later they may be dropped at the bound. */
  readonly windowUntilMs: number;
}

export interface LastWrite {
  readonly actionKey: string;
  /** `n` of the state when the write was allowed (CONVERSATION-3). */
  readonly n: number;
}

export interface WriteHistory {
  readonly any: LastWrites;
  readonly undeclared: LastWrites;
  readonly byResource: Ledger<LastWrites>;
}

export interface Sketched {
  readonly decisionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly actionKey: string;
  readonly n: number;
  readonly atMs: number;
  readonly status: CallStatus;
  readonly values: string;
}

export interface RecentCall {
  readonly n: number;
  readonly decisionId: string;
  /** The action as one agent takes it (`loopKeyOf` in `recent-calls.ts`). */
  readonly loopKey: string;
  readonly tool: string;
  readonly atMs: number;
  readonly turnIndex: number;
  readonly isRead: boolean;
  readonly status: CallStatus;
  readonly transient: boolean;
  /** Digest of the output, or of the error where the call failed; null: there is none. */
  readonly digest: string | null;
  /** The same with volatile parts masked: calls of one action are compared by it. */
  readonly maskedDigest: string | null;
  readonly agentId: string | null;
  readonly step: string | null;
  /** Whether it gave an output or error that no other recent call gave, volatile parts masked. */
  readonly isNew: boolean;
  /** What its arguments are made of (`sweep.ts`). */
  readonly form: number;
}

export interface Flags {
  readonly userInputRequired: boolean;
  /** The one tool that user input is required for: its reads were a loop; null: every call is refused. */
  readonly stoppedTool: string | null;
  readonly ended: "turn" | "conversation" | null;
  /** The action key that the model must not simply propose again. */
  readonly acknowledge: string | null;
}

export interface Grant {
  readonly used: number;
  readonly expiresAtMs: number;
}

export const NO_TROUBLE: Trouble = {
  errorMessage: null,
  effect: null,
  doubted: false,
  failure: null,
};

/** Each empty list of a state is this one. */
export const NOTHING: readonly never[] = [];

export const NO_WRITES: LastWrites = { doneN: 0, latest: null, other: null, windowUntilMs: 0 };

export const NOTHING_WRITTEN: WriteHistory = {
  any: NO_WRITES,
  undeclared: NO_WRITES,
  byResource: emptyLedger(),
};

export const NO_FLAGS: Flags = {
  userInputRequired: false,
  stoppedTool: null,
  ended: null,
  acknowledge: null,
};

export function initialState(
  tenantId: string,
  conversationId: string,
  atMs: number,
): ConversationState {
  return {
    tenantId,
    conversationId,
    startedAtMs: atMs,
    lastAtMs: atMs,
    dropAtMs: Number.MAX_SAFE_INTEGER,
    n: 0,
    turn: {
      id: null,
      index: 0,
      startedAtMs: atMs,
      calls: 0,
      steps: 0,
      lastStep: null,
      heldBeforeMs: 0,
      spent: NOTHING_SPENT,
      answeredN: 0,
    },
    totals: { calls: 0, steps: 0, spent: NOTHING_SPENT, budgets: NO_BUDGETS },
    tools: emptyTrie(),
    retained: emptyLedger(),
    loose: emptyLedger(),
    terms: NOTHING,
    forgotten: emptyTrie(),
    priorReads: emptyLedger(),
    priorWrites: emptyLedger(),
    open: emptyTrie(),
    doubts: NOTHING,
    openIndex: NOTHING_OPEN,
    writes: NOTHING_WRITTEN,
    effects: emptyTrie(),
    effectIndex: NO_EFFECTS,
    sketches: emptyLedger(),
    recentCalls: NOTHING,
    actions: emptyLedger(),
    recentMarks: NO_MARKS,
    recentOtherMarks: NO_MARKS,
    strikes: NOTHING,
    cycle: null,
    flags: NO_FLAGS,
    rates: emptyTrie(),
    grants: emptyTrie(),
    confirmations: emptyTrie(),
    heldTime: NEVER_HELD,
    manualGrants: emptyTrie(),
    denials: NOTHING,
    sealKeyId: undefined,
  };
}
