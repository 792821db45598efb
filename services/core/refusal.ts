/** What a refusal tells the model and the agent, and what it refers to. */

import type { ReasonCode } from "./reasons/reasons.ts";

export type Disposition = "use_previous_result" | "change_approach" | "wait" | "ask_user" | "stop";

/** What the model and the agent are told of the call of the decision. Schema: `schemas/refused-call.avsc`. */
export interface Refusal {
  readonly reason: ReasonCode;
  readonly message: string;
  readonly duplicate: boolean;
  readonly note: string | null;
  readonly rule: string;
  /** Level of the ladder, 0: none. */
  readonly level: number;
  readonly count: number;
  readonly retryable: boolean;
  readonly disposition: Disposition;
  readonly previousCall: PreviousCall | null;
  readonly previousResult: PreviousResult | null;
  readonly conflict: Conflict | null;
  readonly resolution: Resolution;
  readonly suggestedNext: readonly string[];
  /** Everything wrong with the arguments, each with its path (`invalid_arguments`). */
  readonly problems: readonly { readonly path: string; readonly message: string }[];
  /** Of a budget that is used up: the latest results, so that an answer can be given from them. */
  readonly earlierResults: readonly EarlierResult[] | null;
  /** A sentence that may be shown to the user: why the agent stopped. */
  readonly userMessage: string | null;
}

/** A result that is known already; `ref` is resolved as that of a previous result is. */
export interface EarlierResult {
  readonly ref: string;
  readonly tool: string;
  readonly atMs: number;
  readonly digest: string | null;
}

export interface PreviousCall {
  readonly callId: string;
  readonly decisionId: string;
  readonly tool: string;
  readonly atMs: number;
  readonly status: CallStatus;
}

export interface PreviousResult {
  /** The output, where it was kept whole. */
  readonly inline: string | null;
  /** Id of the decision whose output it is. */
  readonly ref: string;
  readonly digest: string | null;
  readonly bytes: number;
}

export interface Conflict {
  readonly resource: string;
  readonly path: readonly string[];
}

export interface Resolution {
  readonly type: "retry_after" | "approval" | "confirmation" | "new_turn" | "none";
  readonly retryAfterMs: number | null;
  readonly approvalId: string | null;
}

/** State of an allowed call as the gate knows it. */
export type CallStatus = "in_flight" | "held" | "succeeded" | "failed" | "not_executed" | "unknown";
