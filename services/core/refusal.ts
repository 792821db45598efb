/** What a refusal says to the model and the agent, and what it refers to. */

import type { ReasonCode } from "./reasons/reasons.ts";

export type Disposition = "use_previous_result" | "change_approach" | "wait" | "ask_user" | "stop";

/** What the model and the agent learn of a refused call. Schema: `schemas/refused-call.avsc`. */
export interface Refusal {
  readonly reason: ReasonCode;
  readonly message: string;
  readonly duplicate: boolean;
  readonly note: string | null;
  readonly rule: string;
  /** Escalation level; 0: none. */
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
  /** The latest results, where a budget is used up, so that the model can answer from them. */
  readonly earlierResults: readonly EarlierResult[] | null;
  /** A sentence that may be shown to the user: why the agent stopped. */
  readonly userMessage: string | null;
}

/** A result that exists already; `ref` is resolved like that of a previous result. */
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
  /** The output, where the whole of it is stored. */
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

/** Status of an allowed call as far as the gate knows it. */
export type CallStatus = "in_flight" | "held" | "succeeded" | "failed" | "not_executed" | "unknown";
