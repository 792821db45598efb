/** Check 6: calls and steps, per turn, conversation and tool. Refused calls use up nothing. */
import { trieGet } from "../persistent/trie.ts";
import type { BudgetLimit } from "../policy/compiled.ts";
import { opensStep } from "../state/turn.ts";
import { type CallContext, type Finding, finding, NOTHING } from "./check.ts";

interface Spent {
  readonly calls: number;
  /** With this call's step, if it opens one. */
  readonly steps: number;
}

export function checkBudgets(call: CallContext): readonly Finding[] {
  const { budgets } = call.policy;
  const { turn, totals, tools } = call.state;
  // The step and the reservation of a held call were counted when it was held.
  const held = call.wasHeld ? trieGet(call.state.open, call.decisionId) : undefined;
  const own = held !== undefined && held.turnIndex === turn.index ? 1 : 0;
  const { step } = call.proposal;
  const opened = !call.wasHeld && opensStep(step, turn.lastStep) ? 1 : 0;
  const found = [
    ...over(
      budgets.turn,
      { calls: turn.calls - own, steps: turn.steps + opened },
      "budgets",
      "turn",
    ),
    ...over(
      budgets.conversation,
      { calls: totals.calls - own, steps: totals.steps + opened },
      "budgets.per_conversation",
      "conversation",
    ),
  ];
  if (budgets.tool.maxCalls === null && budgets.tool.maxSteps === null) return found;
  const known = trieGet(tools, call.proposal.tool);
  const used = known !== undefined && known.turnIndex === turn.index ? known : undefined;
  const toolStep = !call.wasHeld && opensStep(step, used?.lastStep ?? null) ? 1 : 0;
  const spent = { calls: (used?.turnCalls ?? 0) - own, steps: (used?.turnSteps ?? 0) + toolStep };
  return [...found, ...over(budgets.tool, spent, "budgets.per_tool", "tool")];
}

function over(limit: BudgetLimit, spent: Spent, rule: string, scope: string): readonly Finding[] {
  if (limit.maxCalls === null && limit.maxSteps === null) return NOTHING;
  const found: Finding[] = [];
  if (limit.maxSteps !== null && spent.steps > limit.maxSteps) {
    found.push(budgetFinding("budget_steps", `${rule}.max_steps`, scope, limit.maxSteps, "steps"));
  }
  if (limit.maxCalls !== null && spent.calls >= limit.maxCalls) {
    const path = `${rule}.max_tool_calls`;
    found.push(budgetFinding("budget_calls", path, scope, limit.maxCalls, "tool calls"));
  }
  return found;
}

function budgetFinding(
  reason: "budget_steps" | "budget_calls",
  rule: string,
  scope: string,
  limit: number,
  what: string,
): Finding {
  return finding({
    reason,
    rule,
    disposition: "stop",
    detail: `The limit is ${limit} ${what} for each ${scope}.`,
    resolution: scope === "conversation" ? "none" : "new_turn",
  });
}
