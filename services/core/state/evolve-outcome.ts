/**
 * Computes the state after the outcome of an allowed call became known, or was found to be unknown.
 */

import { ledgerGet, ledgerReplace } from "../../collections/ledger.ts";
import { trieGet } from "../../collections/trie.ts";
import type { CallMore, ResultEffects, ResultRecorded } from "../events.ts";
import { addResultEffects, tellEffects } from "./active-effects.ts";
import { giveBack } from "./allowance.ts";
import { replaceAmounts, withCost } from "./budget-totals.ts";
import { addDoubt, findDoubt, isInDoubt, takeDoubt } from "./doubts.ts";
import { draftOf } from "./draft.ts";
import { forget, progress } from "./evolve-decision.ts";
import { noteLook } from "./looks-for.ts";
import { putOpen, takeOpen } from "./open-calls.ts";
import { type OutcomeEvent, type OutcomeReport, readReport } from "./outcome-report.ts";
import { loopKeyOf, tellRecentCall } from "./recent-calls.ts";
import { leaveToDoubt, release, returnSpent, spend } from "./reservation.ts";
import type { ConversationState, OpenCall, RecentCall, StateDraft } from "./state.ts";
import { endPriorDoubt, namesByResult, updatePriorCall } from "./update-prior-call.ts";
import { withWrite } from "./writes.ts";

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
  noteLook(state, open, report);
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

/**
 * The call with the resources that its result named. If it named none, it may have touched
 * anything.
 */
function settled(open: OpenCall, effects: ResultEffects | null): OpenCall {
  if (!namesByResult(open)) return open;
  const exclusive = [...open.call.exclusive, ...(effects?.exclusive ?? [])];
  return { ...open, call: { ...open.call, resources: effects?.resources ?? null, exclusive } };
}

/** A success, or a certain later report, leaves no attempt of the action in doubt. */
function settleDoubt(state: StateDraft, { actionKey }: OpenCall, report: OutcomeReport): void {
  if (report.status !== "succeeded" && !report.endsDoubt) return;
  const doubt = takeDoubt(state, actionKey);
  // By now a success has replaced the attempts of its action.
  if (doubt !== undefined && report.status !== "succeeded") tellEffects(state, doubt, report);
}

/** The reported cost of the call replaces the reserved one. */
function commit(state: StateDraft, open: OpenCall, event: ResultRecorded): void {
  if (event.cost === null || event.status === "not_executed") return;
  spend(state, open, open.call.more?.cost ?? null, -1);
  spend(state, open, event.cost, 1);
  const { cost } = event;
  const more = open.call.more ?? NO_MORE;
  const all = replaceAmounts(state.totals.budgets, more.budgets, cost);
  state.totals = { ...state.totals, budgets: all };
  const budgets = withCost(more.budgets, cost);
  const call = { ...open.call, more: { ...more, cost, budgets } };
  // The call can still be settled: the reservation is spent by now and must not be given back
  // again.
  if (event.status === "unknown" && trieGet(state.open, open.decisionId) !== undefined) {
    putOpen(state, asUnknown(state, { ...open, call }));
  }
  const doubt = findDoubt(state, open.decisionId);
  if (doubt !== undefined) addDoubt(state, { ...doubt, call });
}

const NO_MORE: CallMore = {
  cost: null,
  manualGrant: null,
  pending: [],
  sketches: [],
  budgets: [],
  asksUser: false,
};

function tellCall(state: StateDraft, open: OpenCall, report: OutcomeReport): void {
  if (isSameFailure(open, report)) {
    endPriorDoubt(state, open);
    return;
  }
  updatePriorCall(state, open, report);
  tellRecentCall(state, open, report);
}

function asUnknown({ n }: StateDraft, open: OpenCall): OpenCall {
  return { ...open, status: "unknown", deadlineMs: null, unknownN: n, shown: null };
}

/** Stores a call that can still be settled: one of unknown outcome, or in doubt. */
function keepOpen(state: StateDraft, open: OpenCall, report: OutcomeReport): void {
  if (report.status === "unknown") putOpen(state, asUnknown(state, open));
  else takeOpen(state, open.decisionId);
  if (isInDoubt(report) && !open.isRead) addDoubt(state, { ...open, status: "in_doubt" });
}

/**
 * Whether a failure in doubt turned out to have no effect: it is no new failure, and its facts
 * stay.
 */
function isSameFailure({ status }: OpenCall, report: OutcomeReport): boolean {
  return status === "in_doubt" && report.status === "failed";
}

function tellSketches(state: StateDraft, open: OpenCall, report: OutcomeReport): void {
  for (const { key } of open.call.more?.sketches ?? []) {
    const sketched = ledgerGet(state.sketches, key, open.atMs);
    if (sketched?.decisionId !== open.decisionId) continue;
    const next = { ...sketched, status: report.status };
    state.sketches = ledgerReplace(state.sketches, key, next, sketched.values.length);
  }
}

/** Records what changed in the world, and whether that is progress. */
function addConsequences(
  state: StateDraft,
  open: OpenCall,
  report: OutcomeReport,
  recentCallsBefore: readonly RecentCall[],
): void {
  if (report.status === "not_executed") {
    release(state, leaveToDoubt(state, open));
    giveBack(state, open);
  }
  if (report.status === "failed" && report.effect === "none") returnSpent(state, open);
  if (report.status === "not_executed" || report.status === "unknown") return;
  const isNew = isProgress(state, open, report, recentCallsBefore);
  if (!open.isRead) addWrite(state, open, report);
  if (isNew) progress(state);
  if (report.status === "succeeded" && open.call.more?.asksUser === true) hearPerson(state);
}

/** A person answered: streaks end, and the agent may go on. What happened before that is no loop with what follows. */
function hearPerson(state: StateDraft): void {
  state.turn = { ...state.turn, answeredN: state.n };
  progress(state);
  if (!state.flags.userInputRequired) return;
  state.flags = { ...state.flags, userInputRequired: false, stoppedTool: null };
}

function addWrite(state: StateDraft, open: OpenCall, report: OutcomeReport): void {
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

/** Whether a write changed something, or the output is new; members of a cycle do not count. */
function isProgress(
  state: ConversationState,
  open: OpenCall,
  report: OutcomeReport,
  recentCallsBefore: readonly RecentCall[],
): boolean {
  if (report.status !== "succeeded") return false;
  const loopKey = loopKeyOf(open.actionKey, open.agentId);
  if (state.cycle?.includes(loopKey) === true) return false;
  const isRepeat = recentCallsBefore.some(
    (entry) => entry.loopKey === loopKey && entry.decisionId !== open.decisionId,
  );
  if (!open.isRead) return !isRepeat;
  if (report.digest === null) return false;
  return !recentCallsBefore.some((entry) => entry.digest === report.digest);
}
