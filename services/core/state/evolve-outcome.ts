/** State after the outcome of an allowed call became known, or was found to be unknown. */

import {
  ledgerEnd,
  ledgerGet,
  ledgerHasAny,
  ledgerPut,
  ledgerReplace,
  NO_END,
} from "../../collections/ledger.ts";
import { trieGet } from "../../collections/trie.ts";
import type {
  CallMore,
  CallReconciled,
  CallStatus,
  OutcomeUnknown,
  ResultEffects,
  ResultRecorded,
} from "../events.ts";
import type { FailureEffect } from "../inputs.ts";
import { LIMITS } from "../limits.ts";
import { addResultEffects, tellEffects } from "./active-effects.ts";
import { giveBack } from "./allowance.ts";
import { addDoubt, findDoubt, isInDoubt, takeDoubt } from "./doubts.ts";
import { draftOf } from "./draft.ts";
import { forget, progress, rememberedUntil } from "./evolve-decision.ts";
import { putOpen, takeOpen } from "./open-calls.ts";
import { release, spend } from "./reservation.ts";
import type {
  ConversationState,
  OpenCall,
  PriorCall,
  PriorFailure,
  RecentCall,
  StateDraft,
} from "./state.ts";
import { withWrite } from "./writes.ts";

type OutcomeEvent = ResultRecorded | OutcomeUnknown | CallReconciled;

/** What an outcome means, whichever event told it. */
interface Report {
  readonly status: Exclude<CallStatus, "held" | "in_flight">;
  readonly transient: boolean;
  readonly effect: FailureEffect | null;
  /** A person says it of the execution, or a later report of an attempt in doubt: no attempt is in doubt any more. */
  readonly endsDoubt: boolean;
  readonly digest: string | null;
  readonly output: string | null;
  readonly outputBytes: number;
  readonly whole: boolean;
  readonly errorMessage: string | null;
  readonly errorCode: string | null;
  readonly errorRetryable: boolean | null;
  readonly atMs: number;
}

export function evolveOutcome(before: ConversationState, event: OutcomeEvent): ConversationState {
  const openCall = trieGet(before.open, event.decisionId) ?? findDoubt(before, event.decisionId);
  if (openCall === undefined) return before;
  const state = draftOf(before);
  if (event.type === "result_recorded") {
    if (event.status === "started") {
      putOpen(state, { ...openCall, started: true });
      return state;
    }
    if (event.evicted !== null) forget(state, event.evicted);
  }
  const report = readReport(event, openCall);
  const effects = event.type === "result_recorded" ? event.effects : null;
  const open = report.status === "unknown" ? openCall : settled(openCall, effects);
  state.n += 1;
  tellCall(state, open, report);
  if (open !== openCall && effects !== null) addResultEffects(state, open, effects.exclusive);
  tellEffects(state, open, report);
  tellSketches(state, open, report);
  settleDoubt(state, open, report);
  keepOpen(state, open, report);
  if (event.type === "result_recorded") commit(state, open, event);
  addConsequences(state, open, report, before.recentCalls);
  return state;
}

/** The call with what its result named. Where it named nothing, it may have touched anything. */
function settled(open: OpenCall, effects: ResultEffects | null): OpenCall {
  if (!namesByResult(open)) return open;
  const exclusive = [...open.call.exclusive, ...(effects?.exclusive ?? [])];
  return { ...open, call: { ...open.call, resources: effects?.resources ?? null, exclusive } };
}

function namesByResult({ call }: OpenCall): boolean {
  return call.more !== null && call.more.pending.length > 0;
}

/** What succeeded, or is certain by a later word, leaves no attempt of the action in doubt. */
function settleDoubt(state: StateDraft, { actionKey }: OpenCall, report: Report): void {
  if (report.status !== "succeeded" && !report.endsDoubt) return;
  const doubt = takeDoubt(state, actionKey);
  // What succeeded has taken the place of its attempts by now.
  if (doubt !== undefined && report.status !== "succeeded") tellEffects(state, doubt, report);
}

/** What the call did cost takes the place of what was reserved for it. */
function commit(state: StateDraft, open: OpenCall, event: ResultRecorded): void {
  if (event.cost === null || event.status === "not_executed") return;
  spend(state, open, open.call.more?.cost ?? null, -1);
  spend(state, open, event.cost, 1);
  const { cost } = event;
  const call = { ...open.call, more: { ...(open.call.more ?? NO_MORE), cost } };
  // It can still be settled: what was reserved is spent, so that is not given back again.
  if (event.status === "unknown" && trieGet(state.open, open.decisionId) !== undefined) {
    putOpen(state, { ...open, status: "unknown", deadlineMs: null, call });
  }
  const doubt = findDoubt(state, open.decisionId);
  if (doubt !== undefined) addDoubt(state, { ...doubt, call });
}

const NO_MORE: CallMore = { cost: null, manualGrant: null, pending: [], sketches: [] };

function readReport(event: OutcomeEvent, { status: was }: OpenCall): Report {
  const nothing = {
    transient: false,
    effect: null,
    endsDoubt: false,
    digest: null,
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
    // Whoever says it has looked: a call that failed by this word had no effect.
    const effect = event.outcome === "failed" ? "none" : null;
    return { ...nothing, status: event.outcome, effect, endsDoubt: true };
  }
  return {
    status: event.status === "started" ? "unknown" : event.status,
    transient: event.transient,
    effect: event.effect,
    endsDoubt: was === "in_doubt",
    digest: event.outputDigest,
    output: event.output,
    outputBytes: event.outputBytes,
    whole: event.whole,
    errorMessage: event.error?.message ?? null,
    errorCode: event.error?.code ?? null,
    errorRetryable: event.error?.retryable ?? null,
    atMs: event.atMs,
  };
}

function tellCall(state: StateDraft, open: OpenCall, report: Report): void {
  if (isSameFailure(open, report)) {
    endPriorDoubt(state, open);
    return;
  }
  updatePriorCall(state, open, report);
  state.recentCalls = updateRecentCalls(state.recentCalls, open, report);
}

/** What can still be settled is kept: of unknown outcome, or in doubt. */
function keepOpen(state: StateDraft, open: OpenCall, report: Report): void {
  if (report.status === "unknown") putOpen(state, { ...open, status: "unknown", deadlineMs: null });
  else takeOpen(state, open.decisionId);
  if (isInDoubt(report) && !open.isRead) addDoubt(state, { ...open, status: "in_doubt" });
}

/** A failure in doubt had no effect: it is no other failure, and what is known of it stays. */
function isSameFailure({ status }: OpenCall, report: Report): boolean {
  return status === "in_doubt" && report.status === "failed";
}

function endPriorDoubt(state: StateDraft, { call, atMs, decisionId }: OpenCall): void {
  const priorCall = ledgerGet(state.priorWrites, call.priorKey, atMs);
  if (priorCall === undefined) return;
  const isSettled = priorCall.decisionId === decisionId || priorCall.status === "not_executed";
  const effect = isSettled ? "none" : priorCall.effect;
  const next: PriorCall = { ...priorCall, effect, doubted: false };
  state.priorWrites = ledgerReplace(
    state.priorWrites,
    call.priorKey,
    next,
    priorCall.output?.length ?? 0,
  );
}

function updatePriorCall(state: StateDraft, open: OpenCall, report: Report): void {
  const ledger = open.isRead ? state.priorReads : state.priorWrites;
  const priorCall = ledgerGet(ledger, open.call.priorKey, open.atMs);
  if (priorCall === undefined) return;
  if (priorCall.decisionId !== open.decisionId) {
    if (report.endsDoubt && priorCall.doubted) tellLaterAttempt(state, open, priorCall, report);
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
  } else if (wasForgotten(state, open)) {
    state.priorWrites = ledgerReplace(ledger, priorKey, next, bytes);
  } else {
    // It refuses its repeats until it is told, however long that takes.
    state.priorWrites = ledgerPut(ledger, priorKey, next, NO_END, bytes);
  }
}

/** The doubt about an earlier attempt ends: what the later one came to counts alone, unless the earlier succeeded. */
function tellLaterAttempt(
  state: StateDraft,
  { call }: OpenCall,
  priorCall: PriorCall,
  report: Report,
): void {
  const isOver = priorCall.status === "failed" || priorCall.status === "not_executed";
  const next: PriorCall =
    report.status === "succeeded" && isOver && !isInDoubt(priorCall)
      ? { ...priorCall, status: "succeeded", effect: null, doubted: false }
      : {
          ...priorCall,
          effect: isCertain(priorCall, report) ? "none" : priorCall.effect,
          doubted: report.status === "succeeded" && priorCall.doubted,
        };
  state.priorWrites = ledgerReplace(
    state.priorWrites,
    call.priorKey,
    next,
    priorCall.output?.length ?? 0,
  );
}

/**
 * Earlier versions had forgotten the write by now, since another was allowed so long after it. Its
 * entry gets no new place then, as it did not there: state hashes of their journals count the places.
 */
function wasForgotten({ lastAtMs, priorWrites }: StateDraft, open: OpenCall): boolean {
  if (open.deadlineMs === null) return false;
  const endMs = rememberedUntil(open.call.dropAtMs, open.deadlineMs);
  if (lastAtMs < endMs) return false;
  return ledgerHasAny(priorWrites, ({ value: { atMs } }) => atMs >= endMs);
}

/** Until when a write is remembered whose outcome is known. */
function computePriorEndMs(state: StateDraft, { call, atMs, deadlineMs }: OpenCall): number {
  if (deadlineMs !== null) return rememberedUntil(call.dropAtMs, deadlineMs);
  // Told late: remembered from now on for as long as it would have been.
  return Math.max(atMs, state.lastAtMs) + (call.dropAtMs - atMs);
}

/** Field by field, as all objects are built that every call needs. */
function settlePriorCall(
  priorCall: PriorCall,
  report: Report,
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
    errorMessage: report.errorMessage,
    transient: report.transient,
    effect: isCertain(priorCall, report) ? "none" : report.effect,
    doubted: priorCall.doubted && !report.endsDoubt && report.status !== "succeeded",
    lastDigest: same.lastDigest,
    sameOutputs: same.sameOutputs,
    failure: failureAfter(priorCall, report),
    wrote,
  };
}

/** Attempts were made under its key, and none took effect: the next one opens an execution with another key. */
function isCertain({ status, doubted }: PriorCall, report: Report): boolean {
  if (!report.endsDoubt || report.status !== "not_executed") return false;
  return status === "failed" || (doubted && status !== "in_flight");
}

function failureAfter({ status, failure }: PriorCall, report: Report): PriorFailure | null {
  if (report.status === "succeeded") return null;
  if (report.status === "failed") {
    const { atMs, errorCode: code, errorRetryable: retryable } = report;
    return { count: (failure?.count ?? 0) + 1, atMs, code, retryable };
  }
  // A failure that was counted, and was none: the call did not run.
  if (status !== "failed" || failure === null) return failure;
  return failure.count === 1 ? null : { ...failure, count: failure.count - 1 };
}

function sameOutputs(
  priorCall: PriorCall,
  report: Report,
): Pick<PriorCall, "lastDigest" | "sameOutputs"> {
  if (report.status === "not_executed") {
    return { lastDigest: priorCall.lastDigest, sameOutputs: priorCall.sameOutputs };
  }
  if (report.status !== "succeeded") return { lastDigest: null, sameOutputs: 0 };
  const same = report.digest !== null && report.digest === priorCall.lastDigest;
  return { lastDigest: report.digest, sameOutputs: same ? priorCall.sameOutputs + 1 : 1 };
}

function updateRecentCalls(
  recentCalls: readonly RecentCall[],
  open: OpenCall,
  report: Report,
): readonly RecentCall[] {
  for (let at = recentCalls.length - 1; at >= 0; at--) {
    const entry = recentCalls[at] as RecentCall;
    if (entry.decisionId !== open.decisionId) continue;
    const next = recentCalls.slice();
    next[at] = {
      ...entry,
      status: report.status,
      transient: report.transient,
      digest: report.digest,
    };
    return next;
  }
  return recentCalls;
}

function tellSketches(state: StateDraft, open: OpenCall, report: Report): void {
  for (const { key } of open.call.more?.sketches ?? []) {
    const sketched = ledgerGet(state.sketches, key, open.atMs);
    if (sketched?.decisionId !== open.decisionId) continue;
    const next = { ...sketched, status: report.status };
    state.sketches = ledgerReplace(state.sketches, key, next, sketched.values.length);
  }
}

/** What changed in the world, and whether that is progress. */
function addConsequences(
  state: StateDraft,
  open: OpenCall,
  report: Report,
  recentCallsBefore: readonly RecentCall[],
): void {
  if (report.status === "not_executed") {
    release(state, open);
    giveBack(state, open);
  }
  if (report.status === "not_executed" || report.status === "unknown") return;
  const isNew = isProgress(state, open, report, recentCallsBefore);
  if (!open.isRead) addWrite(state, open, report);
  if (isNew) progress(state);
}

function addWrite(state: StateDraft, open: OpenCall, report: Report): void {
  if (report.status === "failed" && report.effect === "none") return;
  const { resources, dropAtMs, windowUntilMs } = open.call;
  const write = {
    actionKey: open.actionKey,
    n: open.n,
    doneN: state.n,
    succeeded: report.status === "succeeded",
    windowUntilMs,
  };
  // Remembered for as long as a call of this moment may be compared with it.
  const retainedUntilMs = state.lastAtMs + (dropAtMs - open.atMs);
  state.writes = withWrite(state.writes, write, resources, retainedUntilMs, state.lastAtMs);
}

/** A write that changed something, or an output not seen before; members of a cycle do not count. */
function isProgress(
  state: ConversationState,
  open: OpenCall,
  report: Report,
  recentCallsBefore: readonly RecentCall[],
): boolean {
  if (report.status !== "succeeded") return false;
  if (state.cycle?.includes(open.actionKey) === true) return false;
  const repeated = recentCallsBefore.some(
    (entry) => entry.actionKey === open.actionKey && entry.decisionId !== open.decisionId,
  );
  if (!open.isRead) return !repeated;
  if (report.digest === null) return false;
  return !recentCallsBefore.some((entry) => entry.digest === report.digest);
}
