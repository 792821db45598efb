/** Reserves calls, steps and money in the budgets, and gives them back. */

import { trieGet, trieSet } from "../../collections/trie.ts";
import type { Decision } from "../decision.ts";
import type { CallAllowed, CallHeld, CountedBudget } from "../events.ts";
import type { Money } from "../inputs.ts";
import { LIMITS } from "../limits.ts";
import {
  countBudgets,
  NOTHING_COUNTED,
  returnAmounts,
  returnCall,
  withoutAmounts,
} from "./budget-totals.ts";
import { addDoubt, findDoubtOf } from "./doubts.ts";
import { heldUntil } from "./held-time.ts";
import { NOTHING_SPENT, withMoney } from "./spent.ts";
import type { OpenCall, StateDraft } from "./state.ts";
import { opensStep, roomForTool } from "./turn.ts";

/**
 * Counts the call and its step; a result of `not_executed` gives both back. Attempts of one execution
 * take effect once, so that a retry takes over the amount of the attempt in doubt.
 */
export function reserve(state: StateDraft, event: CallAllowed | CallHeld): void {
  // The step of a held call was counted when the call was held.
  const { more } = event.facts;
  countCall(state, event, event.approval.approvalId === null, more?.cost ?? null);
  const counted = more?.budgets ?? NOTHING_COUNTED;
  if (counted.length === 0) return;
  const isRetry = event.type === "allowed" && event.execution.attempt > 1;
  if (isRetry) takeAmounts(state, event.arguments.actionKey);
  state.totals = { ...state.totals, budgets: countBudgets(state.totals.budgets, counted) };
}

/** Takes what arguments said from the attempt in doubt. */
function takeAmounts(state: StateDraft, actionKey: string): void {
  const doubt = findDoubtOf(state, actionKey);
  const counted = doubt?.call.more?.budgets ?? NOTHING_COUNTED;
  if (doubt === undefined || counted.length === 0) return;
  state.totals = { ...state.totals, budgets: returnAmounts(state.totals.budgets, counted) };
  addDoubt(state, withBudgets(doubt, withoutAmounts(counted)));
}

/**
 * Gives back what arguments said a call costs, which had no effect. If an earlier attempt of its
 * execution is still in doubt, that attempt has the amount again.
 */
export function returnSpent(state: StateDraft, open: OpenCall): void {
  const counted = open.call.more?.budgets ?? NOTHING_COUNTED;
  if (counted.length === 0) return;
  const doubt = findDoubtOf(state, open.actionKey);
  if (doubt === undefined || doubt.decisionId === open.decisionId) {
    state.totals = { ...state.totals, budgets: returnAmounts(state.totals.budgets, counted) };
  } else {
    addDoubt(state, withBudgets(doubt, counted));
  }
}

/** The call as it is given back: without an amount that an earlier attempt in doubt has again. */
export function leaveToDoubt(state: StateDraft, open: OpenCall): OpenCall {
  const counted = open.call.more?.budgets ?? NOTHING_COUNTED;
  const doubt = counted.length === 0 ? undefined : findDoubtOf(state, open.actionKey);
  if (doubt === undefined || doubt.decisionId === open.decisionId) return open;
  addDoubt(state, withBudgets(doubt, counted));
  return withBudgets(open, withoutAmounts(counted));
}

function withBudgets(open: OpenCall, budgets: readonly CountedBudget[]): OpenCall {
  const { more } = open.call;
  return more === null ? open : { ...open, call: { ...open.call, more: { ...more, budgets } } };
}

/** `first`: whether the call's step counts as well. */
export function countCall(
  state: StateDraft,
  event: Decision,
  first: boolean,
  cost: Money | null,
): void {
  const { turn, totals } = state;
  const newStep = first && opensStep(event.call.step, turn.lastStep) ? 1 : 0;
  state.totals = {
    calls: totals.calls + 1,
    steps: totals.steps + newStep,
    spent: withMoney(totals.spent, cost, 1),
    budgets: totals.budgets,
  };
  reserveTool(state, event, first, cost);
  state.turn = {
    id: turn.id,
    index: turn.index,
    startedAtMs: turn.startedAtMs,
    calls: turn.calls + 1,
    steps: turn.steps + newStep,
    lastStep: first ? event.call.step : turn.lastStep,
    heldBeforeMs: turn.heldBeforeMs,
    spent: withMoney(turn.spent, cost, 1),
    answeredN: turn.answeredN,
  };
}

function reserveTool(state: StateDraft, event: Decision, first: boolean, cost: Money | null): void {
  const tool = trieGet(state.tools, event.call.tool);
  const tools = tool === undefined ? roomForTool(state) : state.tools;
  // Only a policy without a budget for each tool goes beyond the bound: nothing reads the counter
  // then.
  if (tool === undefined && tools.size >= LIMITS.counters) return;
  const inTurn = tool !== undefined && tool.turnIndex === state.turn.index ? tool : undefined;
  const newStep = first && opensStep(event.call.step, inTurn?.lastStep ?? null) ? 1 : 0;
  state.tools = trieSet(tools, event.call.tool, {
    turnIndex: state.turn.index,
    turnCalls: (inTurn?.turnCalls ?? 0) + 1,
    turnSteps: (inTurn?.turnSteps ?? 0) + newStep,
    lastStep: first ? event.call.step : (inTurn?.lastStep ?? null),
    startedAtMs: inTurn?.startedAtMs ?? event.times.proposalsAtMs,
    heldBeforeMs: inTurn?.heldBeforeMs ?? heldUntil(state, event.times.proposalsAtMs),
    spent: withMoney(inTurn?.spent ?? NOTHING_SPENT, cost, 1),
  });
}

/** Gives the call's reservation back to the counters. */
export function release(state: StateDraft, call: OpenCall): void {
  const { turn, totals } = state;
  const tool = trieGet(state.tools, call.tool);
  if (tool !== undefined && tool.turnIndex === call.turnIndex) {
    const turnCalls = Math.max(0, tool.turnCalls - 1);
    state.tools = trieSet(state.tools, call.tool, { ...tool, turnCalls });
  }
  const budgets = returnCall(totals.budgets, call.call.more?.budgets ?? NOTHING_COUNTED);
  state.totals = { ...totals, calls: Math.max(0, totals.calls - 1), budgets };
  if (call.turnIndex === turn.index) {
    state.turn = { ...turn, calls: Math.max(0, turn.calls - 1) };
  }
  spend(state, call, call.call.more?.cost ?? null, -1);
}

/**
 * Counts money as spent by a call, or takes it back, in every counter that the call itself is in.
 */
export function spend(
  state: StateDraft,
  call: Pick<OpenCall, "tool" | "turnIndex">,
  money: Money | null,
  times: 1 | -1,
): void {
  if (money === null) return;
  const { turn, totals } = state;
  state.totals = { ...totals, spent: withMoney(totals.spent, money, times) };
  if (call.turnIndex === turn.index) {
    state.turn = { ...turn, spent: withMoney(turn.spent, money, times) };
  }
  const tool = trieGet(state.tools, call.tool);
  if (tool === undefined || tool.turnIndex !== call.turnIndex) return;
  const spent = withMoney(tool.spent, money, times);
  state.tools = trieSet(state.tools, call.tool, { ...tool, spent });
}
