/** Budgets of `budgets.by_name` that count nothing, or that nothing asks about. */
import { SPENT } from "../../../core/policy/conditions/spending.ts";
import { compileToolGlobs } from "../../../core/policy/tool-glob.ts";
import type { LintRule } from "./finding.ts";

export const lintBudgetsByName: LintRule = (document, report) => {
  const { budgets, authorization, tool_schemas } = document;
  const asked = new Set(listAsked([authorization, tool_schemas]));
  for (const [name, budget] of Object.entries(budgets?.by_name ?? {})) {
    const path = ["budgets", "by_name", name];
    const isLimit = budget.max_tool_calls !== undefined || budget.max_spend !== undefined;
    if (!isLimit && !asked.has(name)) {
      const message = `the budget \`${name}\` has no limit, and no condition asks about it`;
      const remedy = "write `max_tool_calls` or `max_spend`, or a condition on `spent`";
      report("warning", "idle-key", path, message, remedy);
    }
    const tools = Object.keys(tool_schemas ?? {});
    if (tools.length === 0 || tools.some(compileToolGlobs(budget.tools, true))) continue;
    const message = `\`${budget.tools}\` matches no tool of \`tool_schemas\`: the budget \`${name}\` may count nothing`;
    report("warning", "idle-key", [...path, "tools"], message, "correct the names");
  }
};

/** The budgets that conditions ask about, wherever they are. */
function listAsked(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const budget = key === SPENT ? (Object(inner) as { budget?: unknown }).budget : undefined;
    return typeof budget === "string" ? [budget] : listAsked(inner);
  });
}
