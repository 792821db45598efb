/** Budgets of calls, steps, seconds and money, per turn, conversation and tool. Most refused calls use up nothing. */

import { trieGet } from "../../collections/trie.ts";
import type { EarlierResult } from "../events.ts";
import type { BudgetLimit } from "../policy/compiled.ts";
import { heldUntil } from "../state/held-time.ts";
import { NOTHING_SPENT, type Spent, withMoney } from "../state/spent.ts";
import type { OpenCall, ToolTotals } from "../state/state.ts";
import { opensStep } from "../state/turn.ts";
import { findExceeded, showBudgets } from "./budgets-by-name.ts";
import { type CallContext, defineCheck, type Finding, finding, NOTHING } from "./check.ts";
import type { ExplainedCall } from "./explain-row.ts";
import { overSpend } from "./spend.ts";

interface Used {
  readonly calls: number;
  /** Steps, this call's own included where it opens one. */
  readonly steps: number;
  readonly startedAtMs: number;
  /** How long calls were held before the start, ms. */
  readonly heldBeforeMs: number;
  readonly spent: Spent;
}

type Scope = "turn" | "conversation" | "tool";

const RULES = {
  turn: "budgets",
  conversation: "budgets.per_conversation",
  tool: "budgets.per_tool",
} as const;

export function isUnlimited({ maxCalls, maxSteps, maxMs, maxSpend }: BudgetLimit): boolean {
  return maxCalls === null && maxSteps === null && maxMs === null && maxSpend === null;
}

export const budgetsCheck = defineCheck("budgets", {
  find: findUsedUp,
  row: { rule: () => "budgets", value: showUsed },
});

function findUsedUp(call: CallContext): readonly Finding[] {
  const { turn, conversation, tool } = call.policy.budgets;
  const own = ownReservation(call);
  const byName = findExceeded(call).map(({ reason, rule, per, what }) =>
    budgetFinding(call, reason, rule, per, what),
  );
  const ofEach = [
    isUnlimited(turn) ? NOTHING : over(call, turn, ofTurn(call, own), "turn"),
    isUnlimited(conversation)
      ? NOTHING
      : over(call, conversation, ofConversation(call, own), "conversation"),
    isUnlimited(tool) ? NOTHING : over(call, tool, ofTool(call, own), "tool"),
    byName.length === 0 ? NOTHING : byName,
  ];
  return ofEach.every((findings) => findings === NOTHING) ? NOTHING : ofEach.flat();
}

/** A held call was counted when it was held: its second judgement does not count it again. */
function ownReservation(call: CallContext): OpenCall | undefined {
  return call.wasHeld ? trieGet(call.state.open, call.decisionId) : undefined;
}

function without(spent: Spent, own: OpenCall | undefined): Spent {
  return own === undefined ? spent : withMoney(spent, own.call.more?.cost ?? null, -1);
}

function ofTurn(call: CallContext, own: OpenCall | undefined): Used {
  const { turn } = call.state;
  const here = own?.turnIndex === turn.index ? own : undefined;
  const { startedAtMs, heldBeforeMs } = turn;
  return {
    calls: turn.calls - (here === undefined ? 0 : 1),
    steps: turn.steps + opened(call, turn.lastStep),
    startedAtMs,
    heldBeforeMs,
    spent: without(turn.spent, here),
  };
}

function ofConversation(call: CallContext, own: OpenCall | undefined): Used {
  const { totals, turn, startedAtMs } = call.state;
  return {
    calls: totals.calls - (own === undefined ? 0 : 1),
    steps: totals.steps + opened(call, turn.lastStep),
    startedAtMs,
    heldBeforeMs: 0,
    spent: without(totals.spent, own),
  };
}

function ofTool(call: CallContext, own: OpenCall | undefined): Used {
  const { turn, tools } = call.state;
  const toolTotals = trieGet(tools, call.proposal.tool);
  const used: ToolTotals | undefined =
    toolTotals?.turnIndex === turn.index ? toolTotals : undefined;
  const here = own?.turnIndex === turn.index ? own : undefined;
  return {
    calls: (used?.turnCalls ?? 0) - (here === undefined ? 0 : 1),
    steps: (used?.turnSteps ?? 0) + opened(call, used?.lastStep ?? null),
    startedAtMs: used?.startedAtMs ?? call.nowMs,
    heldBeforeMs: used?.heldBeforeMs ?? heldUntil(call.state, call.nowMs),
    spent: without(used?.spent ?? NOTHING_SPENT, here),
  };
}

function opened(call: CallContext, lastStep: string | null): 0 | 1 {
  return !call.wasHeld && opensStep(call.proposal.step, lastStep) ? 1 : 0;
}

function over(call: CallContext, limit: BudgetLimit, used: Used, scope: Scope): readonly Finding[] {
  const { maxSteps, maxCalls, maxMs, maxSpend } = limit;
  const steps = maxSteps !== null && used.steps > maxSteps;
  const calls = maxCalls !== null && used.calls >= maxCalls;
  const seconds = maxMs !== null && elapsedMs(call, used) >= maxMs;
  const cost = call.proposal.estimatedCost;
  const spend = maxSpend === null ? null : overSpend(cost, maxSpend, used.spent);
  if (!(steps || calls || seconds) && spend === null) return NOTHING;
  const findings: Finding[] = [];
  const add = (reason: BudgetReason, key: string, what: string): void => {
    findings.push(budgetFinding(call, reason, `${RULES[scope]}.${key}`, scope, what));
  };
  if (steps) add("budget_steps", "max_steps", `${maxSteps} steps`);
  if (calls) add("budget_calls", "max_tool_calls", `${maxCalls} tool calls`);
  if (seconds) add("budget_seconds", "max_seconds", `${maxMs / 1_000} seconds`);
  if (spend !== null) add("budget_spend", "max_spend", spend);
  return findings;
}

/** Gate time since the start, less the time in which a call waited for a person. */
function elapsedMs({ state, nowMs }: CallContext, { startedAtMs, heldBeforeMs }: Used): number {
  return nowMs - startedAtMs - (heldUntil(state, nowMs) - heldBeforeMs);
}

type BudgetReason = "budget_steps" | "budget_calls" | "budget_seconds" | "budget_spend";

/** What the user may be told when a budget stops the agent. */
const USER_SENTENCES: Readonly<Record<BudgetReason, string>> = {
  budget_steps: "I stopped because this task used up the steps it may take",
  budget_calls: "I stopped because this task used up the tool calls it may make",
  budget_seconds: "I stopped because the time allowed for this task is over",
  budget_spend: "I stopped because going on would cost more than may be spent on this task",
};

function budgetFinding(
  call: CallContext,
  reason: BudgetReason,
  rule: string,
  scope: Scope | "day",
  what: string,
): Finding {
  const earlierResults = listEarlierResults(call);
  const partial = earlierResults.length === 0 ? "." : "; what I found so far is not lost.";
  return finding({
    reason,
    rule,
    disposition: "stop",
    detail: `The limit is ${what} for each ${scope}.`,
    resolution: scope === "turn" || scope === "tool" ? "new_turn" : "none",
    earlierResults,
    userMessage: `${USER_SENTENCES[reason]} (${what})${partial}`,
  });
}

const EARLIER_RESULTS_MAX = 5;

/**
 * The latest results of the conversation, by reference: enough to answer from. A read that was
 * answered from memory is named by the call that ran.
 */
function listEarlierResults({ state }: CallContext): readonly EarlierResult[] {
  const first = new Map<string, EarlierResult>();
  for (const { status, decisionId: ref, loopKey, tool, atMs, digest } of state.recentCalls) {
    if (status !== "succeeded") continue;
    const key = `${loopKey} ${digest}`;
    const earlierResult = first.get(key) ?? { ref, tool, atMs, digest };
    first.delete(key);
    first.set(key, earlierResult);
  }
  return [...first.values()].slice(-EARLIER_RESULTS_MAX).reverse();
}

function showUsed(call: ExplainedCall): string {
  const { policy, state, proposal } = call;
  const { turn, conversation, tool } = policy.budgets;
  const sameTurn = state !== undefined && (proposal.turn ?? state.turn.id) === state.turn.id;
  const used = state === undefined ? undefined : trieGet(state.tools, proposal.tool);
  const inTurn = sameTurn && used?.turnIndex === state.turn.index ? used : undefined;
  const parts = [
    showLimit("turn", turn, sameTurn ? state.turn.calls : 0, sameTurn ? state.turn.steps : 0),
    showLimit("conversation", conversation, state?.totals.calls ?? 0, state?.totals.steps ?? 0),
    showLimit("tool", tool, inTurn?.turnCalls ?? 0, inTurn?.turnSteps ?? 0),
    ...showBudgets(call),
  ].filter((part) => part !== null);
  return parts.length === 0 ? "none written" : parts.join("; ");
}

function showLimit(scope: string, limit: BudgetLimit, calls: number, steps: number): string | null {
  const parts = [
    limit.maxCalls === null ? null : `${calls} of ${limit.maxCalls} calls`,
    limit.maxSteps === null ? null : `${steps} of ${limit.maxSteps} steps`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : `${scope}: ${parts.join(", ")} used`;
}
