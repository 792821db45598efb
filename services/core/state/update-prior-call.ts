/** Updates the prior call of an action, which later calls are compared with, after an outcome. */

import {
  ledgerEnd,
  ledgerGet,
  ledgerPut,
  ledgerReplace,
  NO_END,
} from "../../collections/ledger.ts";
import { LIMITS } from "../limits.ts";
import { isPriorInDoubt } from "./doubts.ts";
import { rememberedUntil } from "./evolve-decision.ts";
import type { OutcomeReport } from "./outcome-report.ts";
import { troubleOf } from "./prior-calls.ts";
import type { OpenCall, PriorCall, PriorFailure, StateDraft } from "./state.ts";

/** Ends the doubt about a failed attempt: it had no effect. */
export function endPriorDoubt(state: StateDraft, { call, atMs, decisionId }: OpenCall): void {
  const priorCall = ledgerGet(state.priorWrites, call.priorKey, atMs);
  if (priorCall === undefined) return;
  const isSettled = priorCall.decisionId === decisionId || priorCall.status === "not_executed";
  const { trouble } = priorCall;
  const effect = isSettled ? "none" : trouble.effect;
  const next = { ...priorCall, trouble: troubleOf({ ...trouble, effect, doubted: false }) };
  state.priorWrites = ledgerReplace(
    state.priorWrites,
    call.priorKey,
    next,
    priorCall.output?.length ?? 0,
  );
}

/** Updates the prior call of the action with the report on this call. */
export function updatePriorCall(state: StateDraft, open: OpenCall, report: OutcomeReport): void {
  const ledger = open.isRead ? state.priorReads : state.priorWrites;
  const priorCall = ledgerGet(ledger, open.call.priorKey, open.atMs);
  if (priorCall === undefined) return;
  if (priorCall.decisionId !== open.decisionId) {
    if (report.endsDoubt && priorCall.trouble.doubted)
      tellLaterAttempt(state, open, priorCall, report);
    return;
  }
  const outputLength = report.output === null ? 0 : report.output.length;
  const room = open.isRead || ledger.bytes + outputLength <= LIMITS.priorWriteBytes;
  const hasResultNames = report.status !== "unknown" && namesByResult(open);
  const next = settlePriorCall(
    priorCall,
    report,
    room,
    hasResultNames ? open.call.resources : null,
  );
  const bytes = room ? outputLength : 0;
  const { priorKey } = open.call;
  if (open.isRead) {
    state.priorReads = ledgerReplace(ledger, priorKey, next, bytes);
  } else if (report.status !== "unknown") {
    state.priorWrites = ledgerEnd(ledger, priorKey, next, computePriorEndMs(state, open), bytes);
  } else {
    // The write refuses its repeats until its outcome is reported, however long that takes.
    state.priorWrites = ledgerPut(ledger, priorKey, next, NO_END, bytes);
  }
}

/**
 * Ends the doubt about an earlier attempt: the outcome of the later one counts alone, unless the
 * earlier succeeded.
 */
function tellLaterAttempt(
  state: StateDraft,
  { call }: OpenCall,
  priorCall: PriorCall,
  report: OutcomeReport,
): void {
  const isOver = priorCall.status === "failed" || priorCall.status === "not_executed";
  const { status, trouble } = priorCall;
  const succeeds = report.status === "succeeded" && isOver && !isPriorInDoubt(priorCall);
  const certain = isCertain(priorCall, report) ? "none" : trouble.effect;
  const effect = succeeds ? null : certain;
  const doubted = !succeeds && report.status === "succeeded" && trouble.doubted;
  const next: PriorCall = {
    ...priorCall,
    status: succeeds ? "succeeded" : status,
    trouble: troubleOf({ ...trouble, effect, doubted }),
  };
  state.priorWrites = ledgerReplace(
    state.priorWrites,
    call.priorKey,
    next,
    priorCall.output?.length ?? 0,
  );
}

/** Until when a write of known outcome is remembered. */
function computePriorEndMs(state: StateDraft, { call, atMs, deadlineMs }: OpenCall): number {
  if (deadlineMs !== null) return rememberedUntil(call.dropAtMs, deadlineMs);
  // A late report: the write is remembered from now on for as long as it would have been.
  return Math.max(atMs, state.lastAtMs) + (call.dropAtMs - atMs);
}

function settlePriorCall(
  priorCall: PriorCall,
  report: OutcomeReport,
  room: boolean,
  wrote: PriorCall["wrote"],
): PriorCall {
  const same = sameOutputs(priorCall, report);
  return {
    decisionId: priorCall.decisionId,
    callId: priorCall.callId,
    tool: priorCall.tool,
    n: priorCall.n,
    atMs: priorCall.atMs,
    turn: priorCall.turn,
    turnIndex: priorCall.turnIndex,
    step: priorCall.step,
    status: report.status,
    windowUntilMs: priorCall.windowUntilMs,
    execution: priorCall.execution,
    keyId: priorCall.keyId,
    repeats: priorCall.repeats,
    output: room ? report.output : null,
    outputDigest: report.digest,
    outputBytes: report.outputBytes,
    whole: report.whole && room,
    lastDigest: same.lastDigest,
    sameOutputs: same.sameOutputs,
    trouble: troubleOf({
      errorMessage: report.errorMessage,
      effect: isCertain(priorCall, report) ? "none" : report.effect,
      doubted: priorCall.trouble.doubted && !report.endsDoubt && report.status !== "succeeded",
      failure: failureAfter(priorCall, report),
    }),
    wrote,
  };
}

/**
 * Attempts were made under its key and none took effect: the next one opens an execution with
 * another key.
 */
function isCertain({ status, trouble }: PriorCall, report: OutcomeReport): boolean {
  if (!report.endsDoubt || report.status !== "not_executed") return false;
  return status === "failed" || (trouble.doubted && status !== "in_flight");
}

function failureAfter({ status, trouble }: PriorCall, report: OutcomeReport): PriorFailure | null {
  const { failure } = trouble;
  if (report.status === "succeeded") return null;
  if (report.status === "failed") {
    const { atMs, errorCode: code, errorRetryable: retryable } = report;
    return { count: (failure?.count ?? 0) + 1, atMs, code, retryable };
  }
  // A failure was counted, but the call did not run.
  if (status !== "failed" || failure === null) return failure;
  return failure.count === 1 ? null : { ...failure, count: failure.count - 1 };
}

function sameOutputs(
  priorCall: PriorCall,
  report: OutcomeReport,
): Pick<PriorCall, "lastDigest" | "sameOutputs"> {
  if (report.status === "not_executed") {
    return { lastDigest: priorCall.lastDigest, sameOutputs: priorCall.sameOutputs };
  }
  if (report.status !== "succeeded") return { lastDigest: null, sameOutputs: 0 };
  const same = report.maskedDigest !== null && report.maskedDigest === priorCall.lastDigest;
  return { lastDigest: report.maskedDigest, sameOutputs: same ? priorCall.sameOutputs + 1 : 1 };
}

/** Whether the policy takes the resources of the call from its result. */
export function namesByResult({ call }: OpenCall): boolean {
  return call.more !== null && call.more.pending.length > 0;
}
