/** The recent calls of a conversation, among which the gate looks for loops. */
import { markOf, mayHold, otherMarkOf, tagOf } from "../../collections/bloom-filter.ts";
import {
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

/** The key of an action as one agent takes it: several agents of a conversation loop each for itself. */
export function loopKeyOf(key: string, agentId: string | null): string {
  return agentId === null ? key : `${key}#${agentId}`;
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

export function makeRecentCall(event: Decision, n: number, state: ConversationState): RecentCall {
  return {
    n,
    decisionId: event.decisionId,
    loopKey: loopKeyOf(event.arguments.actionKey, event.call.agentId),
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

const NO_CALLS: readonly RecentCall[] = [];

/** Calls of one action, oldest first. */
export function callsOfAction(
  { actions }: Pick<ConversationState, "actions">,
  loopKey: string,
): readonly RecentCall[] {
  return ledgerGet(actions, loopKey, 0) ?? NO_CALLS;
}

export function addRecentCall(state: StateDraft, entry: RecentCall, size: number): void {
  state.recentCalls = pushed(state.recentCalls, entry, size);
  addToAction(state, entry, size);
  const tag = tagOf(entry.loopKey);
  state.recentMarks |= markOf(tag);
  state.recentOtherMarks |= otherMarkOf(tag);
}

/** Of its own action as many calls are remembered as of all; those of other actions make room. */
function addToAction(state: StateDraft, entry: RecentCall, size: number): void {
  const before = ledgerGet(state.actions, entry.loopKey, 0);
  const calls = before === undefined ? [entry] : pushed(before, entry, size);
  let actions = ledgerPut(state.actions, entry.loopKey, calls, NO_TIME, calls.length);
  while (actions.bytes > LIMITS.actionCalls && actions.size > 1) {
    actions = ledgerDelete(actions, ledgerFirst(actions) as string);
  }
  state.actions = actions;
}

/** Notes the outcome of a call, in both lists. */
export function tellRecentCall(state: StateDraft, open: OpenCall, report: OutcomeReport): void {
  const loopKey = loopKeyOf(open.actionKey, open.agentId);
  const at = state.recentCalls.findLastIndex(({ decisionId }) => decisionId === open.decisionId);
  const isNew = isNews(state, open, report);
  if (at >= 0) state.recentCalls = replaced(state.recentCalls, at, report, isNew);
  const own = callsOfAction(state, loopKey);
  const atOwn = own.findLastIndex(({ decisionId }) => decisionId === open.decisionId);
  if (atOwn < 0) return;
  const calls = replaced(own, atOwn, report, isNew);
  state.actions = ledgerReplace(state.actions, loopKey, calls, calls.length);
}

function replaced(
  calls: readonly RecentCall[],
  at: number,
  { status, transient, digest, maskedDigest }: OutcomeReport,
  isNew: boolean,
): readonly RecentCall[] {
  const next = calls.slice();
  next[at] = { ...(calls[at] as RecentCall), status, transient, digest, maskedDigest, isNew };
  return next;
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
