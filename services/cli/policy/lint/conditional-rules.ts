/** Conditions of variants and command rules that decide nothing: whatever they say, the call is allowed. */
import { compilePolicy } from "../../../core/policy/compile-policy.ts";
import type { CompiledTool } from "../../../core/policy/compiled.ts";
import type { CommandRule, ToolDocument, VariantRule } from "../../../core/policy/document.ts";
import type { PathSegment } from "../../../core/policy/path.ts";
import { capabilities } from "../../../gate/capabilities.ts";
import type { LintRule } from "./finding.ts";

export const lintConditionalRules: LintRule = (document, report) => {
  const tools = Object.entries(document.tool_schemas ?? {});
  const conditional = tools.flatMap(([name, tool]) => {
    const at = firstCondition(tool);
    return at === null ? [] : [{ name, at }];
  });
  if (conditional.length === 0) return;
  const compiled = compilePolicy(document, capabilities, { revision: "", keyId: "" });
  if (!compiled.ok) return;
  for (const { name, at } of conditional) {
    const tool = compiled.policy.tool(name);
    if ([tool, ...tool.variants].some(isStrict)) continue;
    const message = `the rule allows some calls of \`${name}\`, and the others are allowed, too: no rule of the tool is stricter`;
    const remedy = "add a rule or `otherwise` with `tier: hitl` or `deny`, or write `default: ask`";
    report("warning", "condition-without-rest", ["tool_schemas", name, ...at], message, remedy);
  }
};

/** The first condition under which a call gets a tier of its own. */
function firstCondition({ variants, commands }: ToolDocument): readonly PathSegment[] | null {
  const inVariants = findIn(variants?.rules ?? []);
  if (inVariants >= 0) return ["variants", "rules", inVariants, "when"];
  const inCommands = findIn(commands?.rules ?? []);
  return inCommands < 0 ? null : ["commands", "rules", inCommands, "when"];
}

function findIn(rules: readonly (VariantRule | CommandRule)[]): number {
  return rules.findIndex(
    ({ when, tier, risk_level }) => when !== undefined && (tier ?? risk_level) !== undefined,
  );
}

function isStrict({ tier: { action } }: CompiledTool): boolean {
  return action === "hitl" || action === "deny";
}
