/** Rules of `commands` with `when`: which of them count for one call. */
import type { Rules } from "../../commands/rules/judge-parts.ts";
import type { Part } from "../../commands/rules/part.ts";
import type { JsonObject } from "../canonical/json-value.ts";
import type { TestedRule } from "./compiled.ts";
import type { CompiledCondition } from "./conditions/condition.ts";
import type { Spending } from "./conditions/spending.ts";

export interface RulesOfCall {
  readonly rules: Rules;
  /** What the conditions say, as a text: calls with one text have the same rules. */
  readonly key: string;
  /**
   * The conditions that the arguments do not answer, of rules that fit a part of the call; filled
   * while the parts are judged.
   */
  readonly unread: readonly CompiledCondition[];
}

/** Narrows the rules to those that a call's conditions leave. Null: the policy has no conditions. */
export type RuleChooser = ((args: JsonObject, spending: Spending) => RulesOfCall) | null;

/** The rules with a condition, and whether each applies to some part of the call. */
export function testRules(
  parts: readonly Part[],
  { rules }: Rules,
  conditions: readonly (CompiledCondition | null)[],
  { args, spending }: { readonly args: JsonObject; readonly spending: Spending },
): readonly TestedRule[] {
  return conditions.flatMap((condition, index) => {
    const rule = rules[index];
    if (condition === null || rule === undefined) return [];
    const isMeant = parts.some((part) => rule.fits(part, rule.isStrict));
    const truth = isMeant ? condition.evaluate(args, spending) : false;
    const tests = isMeant ? condition.explain(args, spending) : [];
    return [{ name: `commands.rules[${index}]`, truth, tests }];
  });
}

/** `conditions`: of each rule; null: the rule has none. */
export function createRuleChooser(
  { rules, isSession }: Rules,
  conditions: readonly (CompiledCondition | null)[],
): RuleChooser {
  if (conditions.every((condition) => condition === null)) return null;
  return (args, spending) => {
    const truths = conditions.map((condition) => condition?.evaluate(args, spending) ?? true);
    const unread: CompiledCondition[] = [];
    const chosen = rules.map(({ fits, isStrict }, index): Rules["rules"][number] => {
      const truth = truths[index] ?? true;
      if (truth === true) return { fits, isStrict };
      if (truth === false) return { fits: () => false, isStrict };
      return {
        isStrict,
        // Nobody knows whether the condition holds: a rule that allows does not apply then.
        fits: (part, strict) => {
          if (!fits(part, strict)) return false;
          const condition = conditions[index] ?? null;
          if (condition !== null) unread.push(condition);
          return isStrict;
        },
      };
    });
    return { rules: { rules: chosen, isSession }, key: truths.join(" "), unread };
  };
}
