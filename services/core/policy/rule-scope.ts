/**
 * The rule that a person is asked about, in words: further calls are granted for it and for no
 * other rule.
 */
import type { RuleScope } from "../events.ts";
import { LIMITS } from "../limits.ts";
import type { CompiledTool } from "./compiled.ts";

/** `tool`: the variant that the call chose; `whole`: the tool with all its variants. */
export function scopeOf(tool: CompiledTool, whole: CompiledTool): RuleScope {
  const others = whole.variants.filter((one) => asks(one) && one.ruleDigest !== tool.ruleDigest);
  const isAmbiguous = others.some((one) => nameOf(one) === nameOf(tool));
  const isOne = whole.variants.length === 0 || whole.variants.includes(tool);
  const name = isOne || tool.tier.name !== null ? nameOf(tool) : "several rules at once";
  const names = others.map((one) => (nameOf(one) === nameOf(tool) ? fullNameOf(one) : nameOf(one)));
  return {
    of: isAmbiguous ? fullNameOf(tool) : name,
    notOf: [...new Set(names)].slice(0, LIMITS.noticesPerDecision),
  };
}

/** Whether some of its calls may wait for a person. */
function asks({ tier }: CompiledTool): boolean {
  return tier.action === "hitl" || (tier.action === "grant" && tier.onExceeded !== null);
}

function nameOf({ tier }: CompiledTool): string {
  return tier.name ?? tier.rule;
}

function fullNameOf(tool: CompiledTool): string {
  return tool.variant === null ? nameOf(tool) : `${nameOf(tool)} (${tool.variant})`;
}
