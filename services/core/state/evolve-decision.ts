/** Computes the state after a decision. */

import {
  ledgerDelete,
  ledgerFirst,
  ledgerGet,
  ledgerPurge,
  ledgerPut,
  NO_END,
  NO_TIME,
} from "../../collections/ledger.ts";
import { trieGet, trieSet } from "../../collections/trie.ts";
import type { Evicted } from "../decision.ts";
import type {
  CallAllowed,
  CallFacts,
  CallHeld,
  CallRefused,
  DecisionEvent,
  Strike,
} from "../events.ts";
import { LIMITS } from "../limits.ts";
import { REASONS } from "../reasons/reasons.ts";
import { addEffects } from "./active-effects.ts";
import { useUp } from "./allowance.ts";
import { denialOf, withDenial } from "./denials.ts";
import { mayHaveActed } from "./doubts.ts";
import { draftOf } from "./draft.ts";
import { flagsAfter } from "./flags.ts";
import { holdBegan, holdEnded } from "./held-time.ts";
import {
  decisionBytes,
  findByName,
  forgottenKey,
  hasPermanentName,
  isForgotten,
  nameOfDecision,
} from "./names.ts";
import { putOpen, takeOpen } from "./open-calls.ts";
import { executionOf, ownExecution, troubleOf } from "./prior-calls.ts";
import { addRecentCall, makeRecentCall } from "./recent-calls.ts";
import { countCall, release, reserve } from "./reservation.ts";
import { areSame, type CallTerms, keepDecision, termsOf } from "./retained-decision.ts";
import {
  type AskedCall,
  type ConversationState,
  initialState,
  NO_FLAGS,
  NOTHING,
  type OpenCall,
  type PriorCall,
  type RecentCall,
  type Sketched,
  type StateDraft,
} from "./state.ts";
import { enterTurn } from "./turn.ts";

export function evolveDecision(
  before: ConversationState | undefined,
  event: DecisionEvent,
): ConversationState | undefined {
  if (event.type === "refused" && REASONS[event.refusal.reason].keepsNoState) return before;
  const state = admitted(before, event);
  nameIt(state, event);
  switch (event.type) {
    case "allowed":
      afterAllowed(state, event);
      break;
    case "held":
      afterHeld(state, event);
      break;
    case "refused":
      afterRefused(state, event);
      break;
  }
  return state;
}

/** The conversation after the call's turn began, room was made and its hold ended. */
function admitted(before: ConversationState | undefined, event: DecisionEvent): StateDraft {
  const at = event.times.proposalsAtMs;
  const conversation =
    before === undefined || event.conversation.fresh
      ? initialState(event.tenantId, event.conversationId, at)
      : before;
  const entered = event.conversation.entersTurn
    ? enterTurn(conversation, event.call.turn, at)
    : conversation;
  const state = draftOf(entered);
  if (event.conversation.evicted !== null) forget(state, event.conversation.evicted);
  state.lastAtMs = Math.max(conversation.lastAtMs, at);
  state.dropAtMs = event.conversation.dropAtMs;
  if (event.conversation.confirmation !== null) {
    state.confirmations = trieSet(
      state.confirmations,
      event.conversation.confirmation,
      event.arguments.actionKey,
    );
  }
  if (event.approval.approvalId !== null || hasOpenHold(state, event)) endHold(state, event);
  state.sealKeyId ??= event.arguments.sealed[0]?.keyId;
  return state;
}

/** Forgets what the decision dropped to make room. */
export function forget(state: StateDraft, evicted: Evicted): void {
  for (const key of evicted.reads) state.priorReads = ledgerDelete(state.priorReads, key);
  for (const key of evicted.names) {
    state.loose = ledgerDelete(state.loose, key);
    if (ledgerGet(state.retained, key, state.lastAtMs) === undefined) continue;
    state.retained = ledgerDelete(state.retained, key);
    state.forgotten = trieSet(state.forgotten, forgottenKey(key), true);
  }
  for (const key of evicted.writes) state.priorWrites = ledgerDelete(state.priorWrites, key);
  if (evicted.resources.length === 0) return;
  let { byResource } = state.writes;
  for (const key of evicted.resources) byResource = ledgerDelete(byResource, key);
  const { any, undeclared } = state.writes;
  state.writes = { any, undeclared, byResource };
}

/**
 * Whether a call that comes as a new one, because its name was forgotten, still has an earlier hold
 * that no tick has ended.
 */
function hasOpenHold({ open, openIndex }: StateDraft, event: DecisionEvent): boolean {
  if (openIndex.heldCount === 0 || event.type === "refused") return false;
  return (trieGet(open, event.decisionId)?.held ?? null) !== null;
}

/** A hold that did not lead to an allowed call gives its reservation back. */
function endHold(state: StateDraft, event: DecisionEvent): void {
  const held = takeOpen(state, event.decisionId);
  if (held === undefined) return;
  release(state, held);
  remember(state, held, event);
  state.heldTime = holdEnded(state.heldTime, event.times.atMs, state.openIndex.heldCount);
}

function remember(state: StateDraft, { held }: OpenCall, event: DecisionEvent): void {
  if (held === null || event.type !== "refused" || event.denial === null) return;
  const [by = ""] = event.approval.approvedBy;
  const denial = denialOf(held, by, event.denial.reason, state.turn.index);
  state.denials = withDenial(state.denials, denial, event.times.proposalsAtMs);
}

function nameIt(state: StateDraft, event: DecisionEvent): void {
  const name = nameOfDecision(event);
  // The first decision on a name stays: a call that conflicts with it does not replace it.
  if (event.type === "refused" && isTakenByOther(state, name, event.decisionId)) return;
  const bytes = decisionBytes(event);
  const value = keepDecision(event, event.type === "allowed" ? shareTerms(state, event) : null);
  if (hasPermanentName(event)) {
    state.retained = ledgerPut(state.retained, name, value, NO_TIME, bytes);
    // Only a hold that ended can be in the other ledger under the same name.
    if (event.approval.approvalId !== null) state.loose = ledgerDelete(state.loose, name);
    return;
  }
  state.loose = ledgerPut(state.loose, name, value, NO_TIME, bytes);
  if (event.approval.approvalId !== null) state.retained = ledgerDelete(state.retained, name);
}

/** The terms of the call, as an earlier one has them if possible. */
function shareTerms(state: StateDraft, event: CallAllowed): CallTerms {
  const terms = termsOf(event);
  for (const earlier of state.terms) if (areSame(earlier, terms)) return earlier;
  // A list that is spread has spare room.
  state.terms = [terms].concat(state.terms.slice(0, TERMS_MOST - 1));
  return terms;
}

/** More would only be looked through. */
const TERMS_MOST = 8;

function isTakenByOther(state: StateDraft, name: string, decisionId: string): boolean {
  const first = findByName(state, name);
  return first === undefined ? isForgotten(state, name) : first.decisionId !== decisionId;
}

function afterAllowed(state: StateDraft, event: CallAllowed): void {
  const { facts: call } = event;
  const { actionKey } = event.arguments;
  reserve(state, event);
  state.n += 1;
  addPriorCall(state, event);
  addOpen(state, openCall(event, call, state.n, state));
  addRecentCall(state, makeRecentCall(event, call.priorKey, state.n, state), call.recentCallsMax);
  acknowledged(state, actionKey);
  addEffects(state, event);
  addSketches(state, event);
  useUp(state, call, event.times.proposalsAtMs);
}

/**
 * Only a policy that does not enforce the bound exceeds it: the result of the call then stays
 * unknown.
 */
function addOpen(state: StateDraft, call: OpenCall): void {
  if (state.open.size >= LIMITS.openCalls) return;
  putOpen(state, call);
}

function addPriorCall(state: StateDraft, event: CallAllowed): void {
  const { facts: call } = event;
  const at = event.times.proposalsAtMs;
  const ledger = ledgerPurge(event.policy.isRead ? state.priorReads : state.priorWrites, at);
  const earlier = ledgerGet(ledger, call.priorKey, at);
  // A new turn is progress: the count of equal outputs starts again.
  const before = earlier?.turnIndex === state.turn.index ? earlier : undefined;
  const priorCall: PriorCall = {
    decisionId: event.decisionId,
    callId: event.call.callId,
    tool: event.call.tool,
    n: state.n,
    atMs: at,
    turn: event.call.turn,
    turnIndex: state.turn.index,
    step: event.call.step,
    status: "in_flight",
    windowUntilMs: call.windowUntilMs,
    execution: ownExecution(event),
    keyId: event.keyId,
    repeats: call.repeats,
    output: null,
    outputDigest: null,
    outputBytes: 0,
    whole: false,
    lastDigest: before?.lastDigest ?? null,
    sameOutputs: before?.sameOutputs ?? 0,
    trouble: troubleOf({
      errorMessage: null,
      effect: null,
      doubted: goesOn(earlier, event),
      failure: before?.trouble.failure ?? null,
    }),
    wrote: null,
  };
  const deadlineMs = event.notAfterMs + event.timeLimitMs;
  // Its result, or a tick that finds it without one, determines how long it is remembered, however
  // late that is.
  const waits = !event.policy.isRead && state.open.size < LIMITS.openCalls;
  const dropAtMs = waits ? NO_END : rememberedUntil(call.dropAtMs, deadlineMs);
  const put = ledgerPut(ledger, call.priorKey, priorCall, dropAtMs, 0);
  if (event.policy.isRead) state.priorReads = put;
  else state.priorWrites = put;
}

/** Whether the call is another attempt of one that may have taken effect. */
function goesOn(earlier: PriorCall | undefined, { execution }: CallAllowed): boolean {
  if (execution.attempt === 1) return false;
  // The first attempt was in another turn, of a tool that compares within turns: it continues
  // because it is in doubt.
  if (earlier === undefined) return true;
  return executionOf(earlier).decisionId === execution.decisionId && mayHaveActed(earlier);
}

/** A call is remembered, whatever its window, until a tick can have found it without a result. */
export function rememberedUntil(dropAtMs: number, deadlineMs: number): number {
  return Math.max(dropAtMs, deadlineMs + LIMITS.lateTickMs);
}

const NOBODY: readonly string[] = [];

function openCall(
  event: CallAllowed | CallHeld,
  call: CallFacts,
  n: number,
  state: ConversationState,
): OpenCall {
  const held = event.type === "held";
  return {
    decisionId: event.decisionId,
    callId: event.call.callId,
    tool: event.call.tool,
    agentId: event.call.agentId,
    actionKey: event.arguments.actionKey,
    status: held ? "held" : "in_flight",
    isRead: event.policy.isRead,
    n,
    atMs: event.times.proposalsAtMs,
    turnIndex: state.turn.index,
    call,
    deadlineMs: held ? event.expiresAtMs : event.notAfterMs + event.timeLimitMs,
    started: false,
    held: held ? event : null,
    asked: askedOf(event),
    approvedBy: NOBODY,
    said: saidOf(event),
    unknownN: null,
    shown: null,
  };
}

function saidOf({ arguments: { text } }: CallAllowed | CallHeld): string | null {
  return text !== "" && text.length <= LIMITS.saidLength ? text : null;
}

function askedOf(event: CallAllowed | CallHeld): AskedCall | null {
  const approvalId = event.type === "held" ? event.holdId : event.approval.approvalId;
  if (approvalId === null) return null;
  const { turn, step } = event.call;
  return { approvalId, turn, step, argumentsDigest: event.arguments.digest };
}

function addSketches(state: StateDraft, event: CallAllowed): void {
  const { more, dropAtMs } = event.facts;
  for (const { key, values } of more?.sketches ?? []) {
    const { callId, tool } = event.call;
    const { actionKey } = event.arguments;
    const sketched: Sketched = {
      ...{ decisionId: event.decisionId, callId, tool, actionKey, n: state.n },
      ...{ atMs: event.times.proposalsAtMs, status: "in_flight", values },
    };
    const first = state.sketches.size < LIMITS.sketches ? undefined : ledgerFirst(state.sketches);
    const ledger = first === undefined ? state.sketches : ledgerDelete(state.sketches, first);
    state.sketches = ledgerPut(ledger, key, sketched, dropAtMs, values.length);
  }
}

/** A different call may run: it is the acknowledgement, or came with it. */
function acknowledged(state: StateDraft, actionKey: string): void {
  const { acknowledge } = state.flags;
  if (acknowledge === null || acknowledge === actionKey) return;
  state.flags = { ...state.flags, acknowledge: null };
}

function afterHeld(state: StateDraft, event: CallHeld): void {
  reserve(state, event);
  addOpen(state, openCall(event, event.facts, state.n, state));
  acknowledged(state, event.arguments.actionKey);
  if (state.openIndex.heldCount > 0) state.heldTime = holdBegan(state.heldTime, event.times.atMs);
}

function afterRefused(state: StateDraft, event: CallRefused): void {
  if (event.counted) countCall(state, event, event.approval.approvalId === null, null);
  if (event.answered !== null) addAnswered(state, event, event.answered);
  if (event.strike !== null) state.strikes = struck(state.strikes, event.strike);
  if (event.cycle !== null) state.cycle = event.cycle;
  const { raised } = event;
  if (raised !== null) state.flags = flagsAfter(state.flags, event, raised);
}

/** Adds a read that was answered from memory to the recent calls, as its prior call would be. */
function addAnswered(
  state: StateDraft,
  event: CallRefused,
  { facts: call, outputDigest }: NonNullable<CallRefused["answered"]>,
): void {
  state.n += 1;
  const entry = makeRecentCall(event, call.priorKey, state.n, state);
  const ledger = event.policy.isRead ? state.priorReads : state.priorWrites;
  const priorCall = ledgerGet(ledger, call.priorKey, event.times.proposalsAtMs);
  const maskedDigest = priorCall?.lastDigest ?? outputDigest;
  const answered: RecentCall = {
    ...entry,
    status: "succeeded",
    digest: outputDigest,
    maskedDigest,
  };
  addRecentCall(state, answered, call.recentCallsMax);
  if (priorCall === undefined) return;
  const again = { ...priorCall, repeats: call.repeats };
  const put = ledgerPut(ledger, call.priorKey, again, call.dropAtMs, priorCall.output?.length ?? 0);
  if (event.policy.isRead) state.priorReads = put;
  else state.priorWrites = put;
}

function struck(strikes: readonly Strike[], strike: Strike): readonly Strike[] {
  const others = strikes.filter((other) => other.key !== strike.key);
  return [...others, strike].slice(-LIMITS.strikes);
}

/** Progress clears the strikes, the refused cycle and the required acknowledgement. */
export function progress(state: StateDraft): void {
  if (state.strikes.length === 0 && state.cycle === null && state.flags === NO_FLAGS) return;
  state.strikes = NOTHING;
  state.cycle = null;
  state.flags = { ...state.flags, acknowledge: null };
}
