/** The recent calls of a conversation, among which the gate looks for loops. */
import { markOf, mayHold, otherMarkOf, tagOf } from "../../collections/bloom-filter.ts";
import {
  emptyLedger,
  ledgerDelete,
  ledgerFirst,
  ledgerGet,
  ledgerPut,
  ledgerReplace,
  NO_TIME,
} from "../../collections/ledger.ts";
import { EMPTY_DIGEST } from "../decide/is-empty-result.ts";
import type { Decision } from "../decision.ts";
import { LIMITS } from "../limits.ts";
import type { OutcomeReport } from "./outcome-report.ts";
import type { ConversationState, OpenCall, RecentCall, StateDraft } from "./state.ts";
import { formOf } from "./sweep.ts";

type Marked = Pick<ConversationState, "recentMarks" | "recentOtherMarks">;

type Counted = Pick<ConversationState, "n" | "open" | "openIndex">;

/**
 * The key of an action as one agent takes it: several agents of a conversation loop each for itself. Joined: a
 * text of two parts would take their memory too, in each state that has it.
 */
export function loopKeyOf(key: string, agentId: string | null): string {
  return agentId === null ? key : [key, agentId].join("#");
}

/** False: no recent call has this loop key. */
export function mayBeRecent({ recentMarks, recentOtherMarks }: Marked, loopKey: string): boolean {
  return mayHold({ marks: recentMarks, otherMarks: recentOtherMarks }, tagOf(loopKey));
}

/**
 * The most recent calls that can have an outcome. `n` counts calls, answers from memory and
 * outcomes, one of which each open call still lacks.
 */
export function settledAtMost({ n, open, openIndex }: Counted): number {
  return n - (open.size - openIndex.heldCount);
}

/** Whether the user, or a person whom a call asked, has said something since the call. */
export function isBeforeInput(
  { turnIndex, n }: Pick<RecentCall, "turnIndex" | "n">,
  { turn }: Pick<ConversationState, "turn">,
): boolean {
  return turnIndex !== turn.index || n < turn.answeredN;
}

/** @param priorKey of the call: for most calls it is the loop key too, and the state then holds one text. */
export function makeRecentCall(
  event: Decision,
  priorKey: string,
  n: number,
  state: ConversationState,
): RecentCall {
  const { actionKey } = event.arguments;
  const { agentId } = event.call;
  return {
    n,
    decisionId: event.decisionId,
    loopKey: isLoopKey(priorKey, actionKey, agentId) ? priorKey : loopKeyOf(actionKey, agentId),
    tool: event.call.tool,
    atMs: event.times.proposalsAtMs,
    turnIndex: state.turn.index,
    isRead: event.policy.isRead,
    status: "in_flight",
    transient: false,
    digest: null,
    maskedDigest: null,
    agentId: event.call.agentId,
    step: event.call.step,
    isNew: false,
    form: formOf(event.arguments.text),
  };
}

/** Whether the text is `loopKeyOf` the other two. */
function isLoopKey(text: string, key: string, agentId: string | null): boolean {
  if (agentId === null) return text === key;
  return (
    text.length === key.length + 1 + agentId.length &&
    text.startsWith(key) &&
    text.endsWith(agentId) &&
    text[key.length] === "#"
  );
}

const NO_CALLS: readonly RecentCall[] = [];

/** Calls of one action, oldest first. */
export function callsOfAction(
  state: Pick<ConversationState, "actions" | "recentCalls"> & Marked,
  loopKey: string,
): readonly RecentCall[] {
  if (state.actions.size > 0) return ledgerGet(state.actions, loopKey, 0) ?? NO_CALLS;
  if (!mayBeRecent(state, loopKey)) return NO_CALLS;
  return state.recentCalls.filter((call) => call.loopKey === loopKey);
}

export function addRecentCall(state: StateDraft, entry: RecentCall, size: number): void {
  if (state.actions.size > 0 || state.recentCalls.length >= size) addToAction(state, entry, size);
  state.recentCalls = pushed(state.recentCalls, entry, size);
  const tag = tagOf(entry.loopKey);
  state.recentMarks |= markOf(tag);
  state.recentOtherMarks |= otherMarkOf(tag);
}

/** Of its own action as many calls are remembered as of all; those of other actions make room. */
function addToAction(state: StateDraft, entry: RecentCall, size: number): void {
  let actions = state.actions.size > 0 ? state.actions : byAction(state.recentCalls);
  const before = ledgerGet(actions, entry.loopKey, 0);
  const calls = before === undefined ? [entry] : pushed(before, entry, size);
  actions = ledgerPut(actions, entry.loopKey, calls, NO_TIME, calls.length);
  while (actions.bytes > LIMITS.actionCalls && actions.size > 1) {
    actions = ledgerDelete(actions, ledgerFirst(actions) as string);
  }
  state.actions = actions;
}

/** The calls by their loop keys; the action that was made longest ago is the first to go. */
function byAction(recentCalls: readonly RecentCall[]): ConversationState["actions"] {
  const calls = new Map<string, RecentCall[]>();
  for (const call of recentCalls) {
    const own = calls.get(call.loopKey) ?? [];
    own.push(call);
    calls.delete(call.loopKey);
    calls.set(call.loopKey, own);
  }
  let actions: ConversationState["actions"] = emptyLedger();
  for (const [loopKey, own] of calls) {
    // A copy, without the spare room of a list that grew.
    actions = ledgerPut(actions, loopKey, own.slice(), NO_TIME, own.length);
  }
  return actions;
}

/** Notes the outcome of a call, in both lists. */
export function tellRecentCall(state: StateDraft, open: OpenCall, report: OutcomeReport): void {
  const { recentCalls, actions } = state;
  const at = indexOf(recentCalls, open);
  const loopKey = recentCalls[at]?.loopKey ?? loopKeyOf(open.actionKey, open.agentId);
  const own = actions.size === 0 ? NO_CALLS : callsOfAction(state, loopKey);
  const atOwn = indexOf(own, open);
  const before = recentCalls[at] ?? own[atOwn];
  if (before === undefined) return;
  const { status, transient, digest, maskedDigest } = report;
  const isNew = isNews(state, open, report);
  const reported: RecentCall = { ...before, status, transient, digest, maskedDigest, isNew };
  if (at >= 0) state.recentCalls = recentCalls.with(at, reported);
  if (atOwn < 0) return;
  state.actions = ledgerReplace(actions, loopKey, own.with(atOwn, reported), own.length);
}

function indexOf(calls: readonly RecentCall[], { decisionId }: OpenCall): number {
  return calls.findLastIndex((call) => call.decisionId === decisionId);
}

/** Whether it holds anything, and no other recent call had that outcome, volatile parts masked. */
function isNews(
  { recentCalls }: StateDraft,
  { decisionId }: OpenCall,
  report: OutcomeReport,
): boolean {
  const { maskedDigest } = report;
  if (maskedDigest === EMPTY_DIGEST) return false;
  const hasIt = (call: RecentCall): boolean =>
    call.maskedDigest === maskedDigest && call.decisionId !== decisionId;
  return maskedDigest !== null && !recentCalls.some(hasIt);
}

function pushed(
  recentCalls: readonly RecentCall[],
  entry: RecentCall,
  size: number,
): readonly RecentCall[] {
  // A push to a copy of the same length would double its capacity.
  const next =
    recentCalls.length <= size ? recentCalls.slice() : recentCalls.slice(recentCalls.length - size);
  if (next.length < size) {
    next.push(entry);
    return next;
  }
  for (let at = 1; at < size; at += 1) next[at - 1] = next[at] as RecentCall;
  next[size - 1] = entry;
  return next;
}
