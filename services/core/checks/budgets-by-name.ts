/** The budgets of `budgets.by_name`: each has its own calls, its own money and its own period. */
import { trieGet } from "../../collections/trie.ts";
import { findExecution } from "../decide/execution.ts";
import type { CountedBudget } from "../events.ts";
import type { CompiledBudget } from "../policy/compiled.ts";
import {
  type AllBudgetTotals,
  NOTHING_COUNTED,
  returnAmounts,
  returnCall,
  totalsIn,
} from "../state/budget-totals.ts";
import { findDoubtOf } from "../state/doubts.ts";
import type { CallContext } from "./check.ts";
import type { ExplainedCall } from "./explain-row.ts";
import { moneyText, overSpend } from "./spend.ts";

/** One limit that the call would exceed. */
export interface ExceededBudget {
  readonly reason: "budget_calls" | "budget_spend";
  readonly rule: string;
  readonly per: CompiledBudget["per"];
  /** The limit in words. */
  readonly what: string;
}

const NONE: readonly ExceededBudget[] = [];

export function findExceeded(call: CallContext): readonly ExceededBudget[] {
  const counted = call.facts.more?.budgets ?? [];
  if (counted.length === 0) return NONE;
  const own = call.wasHeld ? trieGet(call.state.open, call.decisionId) : undefined;
  const before = own?.call.more?.budgets ?? NOTHING_COUNTED;
  const all = withoutDoubt(call, returnCall(call.state.totals.budgets, before));
  return call.tool.budgets.flatMap((budget) => {
    const one = counted.find(({ budget: name }) => name === budget.name);
    return one === undefined ? [] : exceeded(budget, one, all);
  });
}

/** A retry takes over the amount of the attempt in doubt: the two take effect once. */
function withoutDoubt(call: CallContext, all: AllBudgetTotals): AllBudgetTotals {
  const doubt = findDoubtOf(call.state, call.actionKey);
  if (doubt === undefined || findExecution(call).attempt === 1) return all;
  return returnAmounts(all, doubt.call.more?.budgets ?? NOTHING_COUNTED);
}

function exceeded(
  { name, rule, per, maxCalls, maxSpend }: CompiledBudget,
  counted: CountedBudget,
  all: AllBudgetTotals,
): readonly ExceededBudget[] {
  const { calls, spent } = totalsIn(all, name, counted.period);
  const exceededLimits: ExceededBudget[] = [];
  const add = (reason: ExceededBudget["reason"], key: string, what: string): void => {
    exceededLimits.push({ reason, rule: `${rule}.${key}`, per, what });
  };
  if (maxCalls !== null && calls >= maxCalls) {
    add("budget_calls", "max_tool_calls", `${maxCalls} tool calls of the budget \`${name}\``);
  }
  if (maxSpend === null) return exceededLimits;
  if (counted.isFixed && counted.amount === null) {
    const limit = `${moneyText(maxSpend)} of the budget \`${name}\``;
    add("budget_spend", "max_spend", `${limit}, and the amount of this call cannot be read,`);
    return exceededLimits;
  }
  const spend = overSpend(counted.amount, maxSpend, spent);
  if (spend !== null) add("budget_spend", "max_spend", `${spend} of the budget \`${name}\``);
  return exceededLimits;
}

/** What each budget of the tool has counted. */
export function showBudgets({ tool, state, unenforced }: ExplainedCall): readonly string[] {
  const counted = unenforced.type === "allowed" ? (unenforced.facts.more?.budgets ?? []) : [];
  return tool.budgets.map(({ name, per, maxCalls, maxSpend }) => {
    const one = counted.find(({ budget }) => budget === name);
    if (one === undefined) return `\`${name}\` does not count it`;
    const { calls, spent } = totalsIn(state?.totals.budgets ?? [], name, one.period);
    const amounts = spent.length === 0 ? ["nothing"] : spent.map(moneyText);
    const ofCalls = maxCalls === null ? `${calls}` : `${calls} of ${maxCalls}`;
    const ofSpend = maxSpend === null ? "" : ` of ${moneyText(maxSpend)}`;
    return `\`${name}\` for each ${per}: ${ofCalls} calls, ${amounts.join(" and ")}${ofSpend} spent`;
  });
}
