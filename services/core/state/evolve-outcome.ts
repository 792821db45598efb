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
import { giveBack } from "./allowance.ts";
import { addDoubt, findDoubt, isInDoubt, takeDoubt } from "./doubts.ts";
import { draftOf } from "./draft.ts";
import { forget, progress, rememberedUntil } from "./evolve-decision.ts";
import { putOpen, takeOpen } from "./open-calls.ts";
import { release, spend } from "./reservation.ts";
import { addNamedEffects, tellEffects } from "./standing-effects.ts";
import type {
  ConversationState,
  OpenCall,
  RingEntry,
  StateDraft,
  Twin,
  TwinFailure,
} from "./state.ts";
import { withWrite } from "./writes.ts";

type OutcomeEvent = ResultRecorded | OutcomeUnknown | CallReconciled;

/** What an outcome means, whichever event told it. */
interface Told {
  readonly status: Exclude<CallStatus, "held" | "in_flight">;
  readonly transient: boolean;
  readonly effect: FailureEffect | null;
  /** A person says it of the occurrence, or a later report of an attempt in doubt: no attempt is in doubt any more. */
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
  const found = trieGet(before.open, event.decisionId) ?? findDoubt(before, event.decisionId);
  if (found === undefined) return before;
  const state = draftOf(before);
  if (event.type === "result_recorded") {
    if (event.status === "started") {
      putOpen(state, { ...found, started: true });
      return state;
    }
    if (event.evicted !== null) forget(state, event.evicted);
  }
  const told = toldBy(event, found);
  const effects = event.type === "result_recorded" ? event.effects : null;
  const open = told.status === "unknown" ? found : settled(found, effects);
  state.n += 1;
  tellCall(state, open, told);
  if (open !== found && effects !== null) addNamedEffects(state, open, effects.exclusive);
  tellEffects(state, open, told);
  tellSketches(state, open, told);
  settleDoubt(state, open, told);
  keepOpen(state, open, told);
  if (event.type === "result_recorded") commit(state, open, event);
  addConsequences(state, open, told, before.ring);
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
function settleDoubt(state: StateDraft, { actionKey }: OpenCall, told: Told): void {
  if (told.status !== "succeeded" && !told.endsDoubt) return;
  const doubt = takeDoubt(state, actionKey);
  // What succeeded has taken the place of its attempts by now.
  if (doubt !== undefined && told.status !== "succeeded") tellEffects(state, doubt, told);
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

const NO_MORE: CallMore = { cost: null, given: null, pending: [], sketches: [] };

function toldBy(event: OutcomeEvent, { status: was }: OpenCall): Told {
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

function tellCall(state: StateDraft, open: OpenCall, told: Told): void {
  if (isSameFailure(open, told)) {
    endTwinDoubt(state, open);
    return;
  }
  tellTwin(state, open, told);
  state.ring = withRingStatus(state.ring, open, told);
}

/** What can still be settled is kept: of unknown outcome, or in doubt. */
function keepOpen(state: StateDraft, open: OpenCall, told: Told): void {
  if (told.status === "unknown") putOpen(state, { ...open, status: "unknown", deadlineMs: null });
  else takeOpen(state, open.decisionId);
  if (isInDoubt(told) && !open.isRead) addDoubt(state, { ...open, status: "in_doubt" });
}

/** A failure in doubt had no effect: it is no other failure, and what is known of it stays. */
function isSameFailure({ status }: OpenCall, told: Told): boolean {
  return status === "in_doubt" && told.status === "failed";
}

function endTwinDoubt(state: StateDraft, { call, atMs, decisionId }: OpenCall): void {
  const twin = ledgerGet(state.writeTwins, call.twinKey, atMs);
  if (twin === undefined) return;
  const isSettled = twin.decisionId === decisionId || twin.status === "not_executed";
  const effect = isSettled ? "none" : twin.effect;
  const next: Twin = { ...twin, effect, doubted: false };
  state.writeTwins = ledgerReplace(state.writeTwins, call.twinKey, next, twin.output?.length ?? 0);
}

function tellTwin(state: StateDraft, open: OpenCall, told: Told): void {
  const ledger = open.isRead ? state.readTwins : state.writeTwins;
  const twin = ledgerGet(ledger, open.call.twinKey, open.atMs);
  if (twin === undefined) return;
  if (twin.decisionId !== open.decisionId) {
    if (told.endsDoubt && twin.doubted) tellLaterAttempt(state, open, twin, told);
    return;
  }
  const kept = told.output === null ? 0 : told.output.length;
  const room = open.isRead || ledger.bytes + kept <= LIMITS.writeTwinBytes;
  const named = told.status !== "unknown" && namesByResult(open);
  const next = toldTwin(twin, told, room, named ? open.call.resources : null);
  const bytes = room ? kept : 0;
  const { twinKey } = open.call;
  if (open.isRead) {
    state.readTwins = ledgerReplace(ledger, twinKey, next, bytes);
  } else if (told.status !== "unknown") {
    state.writeTwins = ledgerEnd(ledger, twinKey, next, twinEnd(state, open), bytes);
  } else if (wasForgotten(state, open)) {
    state.writeTwins = ledgerReplace(ledger, twinKey, next, bytes);
  } else {
    // It refuses its repeats until it is told, however long that takes.
    state.writeTwins = ledgerPut(ledger, twinKey, next, NO_END, bytes);
  }
}

/** The doubt about an earlier attempt ends: what the later one came to counts alone, unless the earlier succeeded. */
function tellLaterAttempt(state: StateDraft, { call }: OpenCall, twin: Twin, told: Told): void {
  const isOver = twin.status === "failed" || twin.status === "not_executed";
  const next: Twin =
    told.status === "succeeded" && isOver && !isInDoubt(twin)
      ? { ...twin, status: "succeeded", effect: null, doubted: false }
      : {
          ...twin,
          effect: isCertain(twin, told) ? "none" : twin.effect,
          doubted: told.status === "succeeded" && twin.doubted,
        };
  state.writeTwins = ledgerReplace(state.writeTwins, call.twinKey, next, twin.output?.length ?? 0);
}

/**
 * Earlier versions had forgotten the write by now, since another was allowed so long after it. Its
 * entry gets no new place then, as it did not there: state hashes of their journals count the places.
 */
function wasForgotten({ lastAtMs, writeTwins }: StateDraft, open: OpenCall): boolean {
  if (open.deadlineMs === null) return false;
  const endMs = rememberedUntil(open.call.dropAtMs, open.deadlineMs);
  if (lastAtMs < endMs) return false;
  return ledgerHasAny(writeTwins, ({ value: { atMs } }) => atMs >= endMs);
}

/** Until when a write is remembered whose outcome is known. */
function twinEnd(state: StateDraft, { call, atMs, deadlineMs }: OpenCall): number {
  if (deadlineMs !== null) return rememberedUntil(call.dropAtMs, deadlineMs);
  // Told late: remembered from now on for as long as it would have been.
  return Math.max(atMs, state.lastAtMs) + (call.dropAtMs - atMs);
}

/** Field by field, as all objects are built that every call needs. */
function toldTwin(twin: Twin, told: Told, room: boolean, wrote: Twin["wrote"]): Twin {
  const same = sameOutputs(twin, told);
  return {
    decisionId: twin.decisionId,
    callId: twin.callId,
    tool: twin.tool,
    n: twin.n,
    atMs: twin.atMs,
    turn: twin.turn,
    turnIndex: twin.turnIndex,
    step: twin.step,
    status: told.status,
    windowUntilMs: twin.windowUntilMs,
    occurrence: twin.occurrence,
    keyId: twin.keyId,
    repeats: twin.repeats,
    output: room ? told.output : null,
    outputDigest: told.digest,
    outputBytes: told.outputBytes,
    whole: told.whole && room,
    errorMessage: told.errorMessage,
    transient: told.transient,
    effect: isCertain(twin, told) ? "none" : told.effect,
    doubted: twin.doubted && !told.endsDoubt && told.status !== "succeeded",
    lastDigest: same.lastDigest,
    sameOutputs: same.sameOutputs,
    failure: failureAfter(twin, told),
    wrote,
  };
}

/** Attempts were made under its key, and none took effect: the next one opens an occurrence with another key. */
function isCertain({ status, doubted }: Twin, told: Told): boolean {
  if (!told.endsDoubt || told.status !== "not_executed") return false;
  return status === "failed" || (doubted && status !== "in_flight");
}

function failureAfter({ status, failure }: Twin, told: Told): TwinFailure | null {
  if (told.status === "succeeded") return null;
  if (told.status === "failed") {
    const { atMs, errorCode: code, errorRetryable: retryable } = told;
    return { count: (failure?.count ?? 0) + 1, atMs, code, retryable };
  }
  // A failure that was counted, and was none: the call did not run.
  if (status !== "failed" || failure === null) return failure;
  return failure.count === 1 ? null : { ...failure, count: failure.count - 1 };
}

function sameOutputs(twin: Twin, told: Told): Pick<Twin, "lastDigest" | "sameOutputs"> {
  if (told.status === "not_executed") {
    return { lastDigest: twin.lastDigest, sameOutputs: twin.sameOutputs };
  }
  if (told.status !== "succeeded") return { lastDigest: null, sameOutputs: 0 };
  const same = told.digest !== null && told.digest === twin.lastDigest;
  return { lastDigest: told.digest, sameOutputs: same ? twin.sameOutputs + 1 : 1 };
}

function withRingStatus(
  ring: readonly RingEntry[],
  open: OpenCall,
  told: Told,
): readonly RingEntry[] {
  for (let at = ring.length - 1; at >= 0; at--) {
    const entry = ring[at] as RingEntry;
    if (entry.decisionId !== open.decisionId) continue;
    const next = ring.slice();
    next[at] = { ...entry, status: told.status, transient: told.transient, digest: told.digest };
    return next;
  }
  return ring;
}

function tellSketches(state: StateDraft, open: OpenCall, told: Told): void {
  for (const { key } of open.call.more?.sketches ?? []) {
    const sketched = ledgerGet(state.sketches, key, open.atMs);
    if (sketched?.decisionId !== open.decisionId) continue;
    const next = { ...sketched, status: told.status };
    state.sketches = ledgerReplace(state.sketches, key, next, sketched.values.length);
  }
}

/** What changed in the world, and whether that is progress. */
function addConsequences(
  state: StateDraft,
  open: OpenCall,
  told: Told,
  ringBefore: readonly RingEntry[],
): void {
  if (told.status === "not_executed") {
    release(state, open);
    giveBack(state, open);
  }
  if (told.status === "not_executed" || told.status === "unknown") return;
  const isNew = isProgress(state, open, told, ringBefore);
  if (!open.isRead) addWrite(state, open, told);
  if (isNew) progress(state);
}

function addWrite(state: StateDraft, open: OpenCall, told: Told): void {
  if (told.status === "failed" && told.effect === "none") return;
  const { resources, dropAtMs, windowUntilMs } = open.call;
  const write = {
    actionKey: open.actionKey,
    n: open.n,
    doneN: state.n,
    succeeded: told.status === "succeeded",
    windowUntilMs,
  };
  // Remembered for as long as a call of this moment may be compared with it.
  const keptUntilMs = state.lastAtMs + (dropAtMs - open.atMs);
  state.writes = withWrite(state.writes, write, resources, keptUntilMs, state.lastAtMs);
}

/** A write that changed something, or an output not seen before; members of a cycle do not count. */
function isProgress(
  state: ConversationState,
  open: OpenCall,
  told: Told,
  ringBefore: readonly RingEntry[],
): boolean {
  if (told.status !== "succeeded") return false;
  if (state.cycle?.includes(open.actionKey) === true) return false;
  const repeated = ringBefore.some(
    (entry) => entry.actionKey === open.actionKey && entry.decisionId !== open.decisionId,
  );
  if (!open.isRead) return !repeated;
  if (told.digest === null) return false;
  return !ringBefore.some((entry) => entry.digest === told.digest);
}
