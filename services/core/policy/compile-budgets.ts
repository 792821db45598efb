/** The budgets of `budgets.by_name`: which calls they count, and what a call costs them. */
import type { JsonObject } from "../canonical/json-value.ts";
import type { ValueCapabilities } from "../capabilities.ts";
import type { Money } from "../inputs.ts";
import type { CompileProblem } from "./compile-identity.ts";
import { moneyOf } from "./compile-settings.ts";
import type { CompiledBudget } from "./compiled.ts";
import { checkArgument, checkTypes } from "./conditions/check-types.ts";
import { type CompiledCondition, compileCondition } from "./conditions/condition.ts";
import { isConditionPath, valuesAt } from "./conditions/document-path.ts";
import { readMoney } from "./conditions/quantity.ts";
import { fillDefaults, type RuleOwner } from "./conditions/rule-condition.ts";
import { toMicroUnits, UNKNOWN_SPENDING } from "./conditions/spending.ts";
import type { BudgetDocument, PolicyDocument } from "./document.ts";
import { policyPath } from "./path.ts";
import { compileToolGlobs } from "./tool-glob.ts";

/** Makes the budgets of a tool, and reports what does not fit its schema. */
export type BudgetsOfTool = (
  owner: RuleOwner,
  problems: CompileProblem[],
) => readonly CompiledBudget[];

export interface CompiledBudgets {
  /** In the order of the document. */
  readonly all: readonly Pick<CompiledBudget, "name" | "per">[];
  readonly ofTool: BudgetsOfTool;
}

const NONE: readonly CompiledBudget[] = [];

export function compileBudgets(
  { budgets }: PolicyDocument,
  capabilities: ValueCapabilities,
  problems: CompileProblem[],
): CompiledBudgets {
  const compiled = Object.entries(budgets?.by_name ?? {}).map(([name, document]) => {
    const at = ["budgets", "by_name", name];
    const { when, tools, amount } = document;
    // A budget must not depend on what another one has spent, or on what it has spent itself.
    const context = { capabilities, budgets: null };
    const condition =
      when === undefined ? null : compileCondition(when, [...at, "when"], context, problems);
    if (amount !== undefined && !isConditionPath(amount)) {
      const message = `\`${amount}\` is no path of an argument: write amount, order.total or items[].price`;
      problems.push({ path: policyPath([...at, "amount"]), message });
    }
    return { name, document, at, condition, fits: compileToolGlobs(tools, true) };
  });
  return {
    all: compiled.map(({ name, document }) => ({ name, per: document.per ?? "conversation" })),
    ofTool: (owner, into) => {
      const own = compiled.filter(({ fits }) => fits(owner.name));
      if (own.length === 0) return NONE;
      return own.map(({ name, document, at, condition }) => {
        checkBudget(document, at, owner, capabilities, into);
        return compileBudget(name, document, at, condition, owner, capabilities);
      });
    },
  };
}

function checkBudget(
  { when, amount }: BudgetDocument,
  at: readonly string[],
  owner: RuleOwner,
  capabilities: ValueCapabilities,
  problems: CompileProblem[],
): void {
  if (when !== undefined) checkTypes(when, [...at, "when"], owner, capabilities, problems);
  if (amount === undefined) return;
  const path = policyPath([...at, "amount"]);
  checkArgument(amount, owner, (message) => problems.push({ path, message }));
}

function compileBudget(
  name: string,
  { per, max_tool_calls, max_spend, amount, amounts_in }: BudgetDocument,
  at: readonly string[],
  condition: CompiledCondition | null,
  { schema }: RuleOwner,
  capabilities: ValueCapabilities,
): CompiledBudget {
  const fill = fillDefaults(schema);
  const amountOf = (args: JsonObject): Money | null =>
    sumAmounts(fill(args), amount ?? "", amounts_in ?? null, capabilities);
  return {
    name,
    rule: policyPath(at),
    per: per ?? "conversation",
    maxCalls: max_tool_calls ?? null,
    maxSpend: max_spend === undefined ? null : moneyOf(max_spend),
    counts: (args) =>
      condition === null || condition.evaluate(fill(args), UNKNOWN_SPENDING) !== false,
    amountOf: amount === undefined ? null : amountOf,
  };
}

/** The sum of the amounts at a path, exact; null: one of them cannot be read, or there is none. */
function sumAmounts(
  args: JsonObject,
  path: string,
  currency: string | null,
  capabilities: ValueCapabilities,
): Money | null {
  let sum: Money | null = null;
  for (const at of valuesAt(args, path)) {
    const money = readMoney(at, args, null, capabilities, currency);
    const microUnits = money?.kind === "money" ? toMicroUnits(money.number) : null;
    if (money?.kind !== "money" || microUnits === null) return null;
    if (sum !== null && sum.currency !== money.currency) return null;
    const total: number = (sum?.microUnits ?? 0) + microUnits;
    if (!Number.isSafeInteger(total)) return null;
    sum = { microUnits: total, currency: money.currency };
  }
  return sum;
}
