/** The key `when` of a rule in a tool's own entry. */
import type { JsonObject } from "../../canonical/json-value.ts";
import type { CompiledJsonSchema } from "../../capabilities.ts";
import type { CompileProblem } from "../compile-identity.ts";
import type { ToolDocument } from "../document.ts";
import type { PathSegment } from "../path.ts";
import { checkTypes } from "./check-types.ts";
import {
  type CompiledCondition,
  type ConditionContext,
  type ConditionDocument,
  compileCondition,
} from "./condition.ts";
import type { Spending } from "./spending.ts";

/** The tool that a rule belongs to. */
export interface RuleOwner {
  readonly name: string;
  readonly entry: ToolDocument;
  readonly schema: CompiledJsonSchema | null;
}

/**
 * Null: the rule has no condition. It is checked against the tool's schema, whose defaults count as if
 * the call had them.
 */
export function compileRuleCondition(
  written: ConditionDocument | undefined,
  at: readonly PathSegment[],
  owner: RuleOwner,
  context: ConditionContext,
  problems: CompileProblem[],
): CompiledCondition | null {
  if (written === undefined) return null;
  const { evaluate, explain } = compileCondition(written, at, context, problems);
  checkTypes(written, at, owner, context.capabilities, problems);
  const fill = fillDefaults(owner.schema);
  return {
    evaluate: (args, spending) => evaluate(fill(args), spending),
    explain: (args, spending) => explain(fill(args), spending),
  };
}

/** The arguments with the schema's defaults. */
export function fillDefaults(schema: CompiledJsonSchema | null): (args: JsonObject) => JsonObject {
  return (args) => (schema === null ? args : (schema.defaults(args) as JsonObject));
}

/** Which tests kept the conditions from an answer, as a clause for the model and the approver. */
export function whyUnreadable(
  conditions: readonly (CompiledCondition | null)[],
  args: JsonObject,
  spending: Spending,
): string {
  const tests = conditions.flatMap((condition) => condition?.explain(args, spending) ?? []);
  const unread = tests.filter(({ truth }) => truth === "unreadable");
  const texts = [...new Set(unread.map(({ text }) => `\`${text.replaceAll("`", "'")}\``))];
  return `the call does not show whether ${texts.join(" and ")} holds, so that the stricter rule applies`;
}
