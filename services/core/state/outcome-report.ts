/** What an outcome event reports of a call, in one form for all such events. */

import type { CallReconciled, CallStatus, OutcomeUnknown, ResultRecorded } from "../events.ts";
import type { FailureEffect } from "../inputs.ts";
import type { OpenCall } from "./state.ts";

export type OutcomeEvent = ResultRecorded | OutcomeUnknown | CallReconciled;

export interface OutcomeReport {
  readonly status: Exclude<CallStatus, "held" | "in_flight">;
  readonly transient: boolean;
  readonly effect: FailureEffect | null;
  /**
   * Whether a person settles the execution, or a later report an attempt in doubt: then no attempt
   * is in doubt any more.
   */
  readonly endsDoubt: boolean;
  readonly digest: string | null;
  /** By which a repeat of the call is compared. */
  readonly maskedDigest: string | null;
  readonly output: string | null;
  readonly outputBytes: number;
  readonly whole: boolean;
  readonly errorMessage: string | null;
  readonly errorCode: string | null;
  readonly errorRetryable: boolean | null;
  readonly atMs: number;
}

export function readReport(event: OutcomeEvent, { status: was }: OpenCall): OutcomeReport {
  const nothing = {
    transient: false,
    effect: null,
    endsDoubt: false,
    digest: null,
    maskedDigest: null,
    output: null,
    outputBytes: 0,
    whole: false,
    errorMessage: null,
    errorCode: null,
    errorRetryable: null,
    atMs: event.atMs,
  };
  if (event.type === "outcome_unknown") return { ...nothing, status: "unknown" };
  if (event.type === "reconciled") {
    // The person who settles it has looked: a call that failed by this verdict had no effect.
    const effect = event.outcome === "failed" ? "none" : null;
    return { ...nothing, status: event.outcome, effect, endsDoubt: true };
  }
  return {
    status: event.status === "started" ? "unknown" : event.status,
    transient: event.transient,
    effect: event.effect,
    endsDoubt: was === "in_doubt",
    digest: event.outputDigest,
    maskedDigest: event.maskedDigest ?? event.outputDigest,
    output: event.output,
    outputBytes: event.outputBytes,
    whole: event.whole,
    errorMessage: event.error?.message ?? null,
    errorCode: event.error?.code ?? null,
    errorRetryable: event.error?.retryable ?? null,
    atMs: event.atMs,
  };
}
