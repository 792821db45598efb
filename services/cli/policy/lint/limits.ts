/** Budgets and windows that limit less than they seem to. */

import { LIMITS } from "../../../core/limits.ts";
import type { PolicyDocument } from "../../../core/policy/document.ts";
import type { LintRule, Report } from "./finding.ts";

const BUDGET_KEYS = ["max_steps", "max_tool_calls", "max_seconds"] as const;

/** Longest period of a cycle that loop detection looks for (docs/engine.md, loops). */
const CYCLE_PERIOD_MAX = 5;
const CYCLE_ROUNDS = 3;

export const lintLimits: LintRule = (document, report) => {
  lintBudgets(document, report);
  lintSpend(document, report);
  lintRecentCalls(document, report);
};

function lintBudgets(document: PolicyDocument, report: Report): void {
  const budgets = document.budgets;
  if (budgets === undefined) return;
  for (const key of BUDGET_KEYS) {
    const turn = budgets[key];
    const whole = budgets.per_conversation?.[key];
    const tool = budgets.per_tool?.[key];
    if (turn !== undefined && whole === undefined) {
      const message = `\`${key}\` bounds one turn; a conversation may have any number of them`;
      const remedy = `add \`per_conversation: { ${key}: … }\`, and let the platform set \`turn\``;
      report("warning", "budget-without-window", ["budgets", key], message, remedy);
    }
    if (turn !== undefined && whole !== undefined && whole < turn) {
      const message = `is never reached: the whole conversation has ${whole}`;
      report("warning", "idle-key", ["budgets", key], `\`${key}\` ${message}`, "lower it");
    }
    if (turn !== undefined && tool !== undefined && tool >= turn) {
      const message = `\`per_tool.${key}\` is never reached: all tools together have ${turn}`;
      report("warning", "idle-key", ["budgets", "per_tool", key], message, "lower it");
    }
  }
}

/** A limit that every turn starts anew does not limit what an agent spends. */
function lintSpend({ budgets }: PolicyDocument, report: Report): void {
  if (budgets?.max_spend === undefined || budgets.per_conversation?.max_spend !== undefined) return;
  const message = "`max_spend` bounds one turn; a conversation may have any number of them";
  const remedy = "add `per_conversation: { max_spend: … }`, and let the platform set `turn`";
  report("warning", "budget-without-window", ["budgets", "max_spend"], message, remedy);
}

/** Loop checks that need more recent calls than are retained. */
function lintSpans(document: PolicyDocument, recentCallsMax: number, report: Report): void {
  const { loops, tool_deduplication: byTurn } = document;
  const spans = [
    [["loops", "failure_streak", "same"], loops?.failure_streak?.same],
    [["loops", "failure_streak", "transient"], loops?.failure_streak?.transient],
    [["tool_deduplication", "no_progress_threshold"], byTurn?.no_progress_threshold],
    [["loops", "rotation", "calls"], loops?.rotation?.calls],
    [["loops", "failure_run", "any"], loops?.failure_run?.any],
    [["loops", "failure_run", "same_tool"], loops?.failure_run?.same_tool],
  ] as const;
  for (const [path, calls] of spans) {
    if (calls === undefined || calls <= recentCallsMax) continue;
    const message = `${calls} calls never fit into ${recentCallsMax} recent calls`;
    report("warning", "recent-calls-too-few", path, message, "raise `limits.recent_calls`");
  }
}

function lintRecentCalls(document: PolicyDocument, report: Report): void {
  const written = document.limits?.recent_calls ?? document.deduplication?.max_history;
  const recentCallsMax = written ?? LIMITS.recentCallsDefault;
  const path =
    document.limits?.recent_calls === undefined
      ? ["deduplication", "max_history"]
      : ["limits", "recent_calls"];
  lintSpans(document, recentCallsMax, report);
  const rounds = document.loops?.cycle_rounds ?? CYCLE_ROUNDS;
  if (rounds * CYCLE_PERIOD_MAX > recentCallsMax) {
    const message = `${recentCallsMax} recent calls do not hold ${rounds} rounds of ${CYCLE_PERIOD_MAX} calls`;
    const at = written === undefined ? ["loops", "cycle_rounds"] : path;
    report(
      "warning",
      "recent-calls-too-few",
      at,
      message,
      `keep ${rounds * CYCLE_PERIOD_MAX} calls`,
    );
  }
  const { same_output: same, any_output: any } = document.deduplication?.loop_threshold ?? {};
  for (const threshold of new Set([same, any])) {
    if (typeof threshold !== "number" || threshold <= recentCallsMax) continue;
    const message = `${threshold} identical calls never fit into ${recentCallsMax} recent calls`;
    const at = ["deduplication", "loop_threshold"];
    report("warning", "recent-calls-too-few", at, message, "raise `limits.recent_calls`");
  }
}
