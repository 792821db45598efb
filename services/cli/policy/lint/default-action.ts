/** `authorization.default`: whether the policy says it, and which writes it lets run. */
import { compilePolicy } from "../../../core/policy/compile-policy.ts";
import type { CompiledTool } from "../../../core/policy/compiled.ts";
import type { PolicyDocument } from "../../../core/policy/document.ts";
import { capabilities } from "../../../gate/capabilities.ts";
import type { LintRule, Report } from "./finding.ts";

export const lintDefaultAction: LintRule = (document, report) => {
  lintUnwritten(document, report);
  if ((document.authorization?.tiers ?? []).length > 0) lintAllowedWrites(document, report);
};

function lintUnwritten({ authorization, preset }: PolicyDocument, report: Report): void {
  if (authorization?.default !== undefined) return;
  const outcome = preset === "strict" ? "held for a person, by `preset: strict`" : "allowed";
  const message = `the policy does not say what happens to a declared write that no tier and no rule names: it is ${outcome}`;
  const remedy =
    "write `default: ask` under `authorization`, or `allow` or `deny`; `ask` holds it for a person";
  report("error", "default-not-written", ["authorization", "default"], message, remedy);
}

/** The author who wrote `default: allow` knows it, so that it is no more than information. */
function lintAllowedWrites(document: PolicyDocument, report: Report): void {
  const compiled = compilePolicy(document, capabilities, { revision: "", keyId: "" });
  if (!compiled.ok) return;
  const severity = document.authorization?.default === undefined ? "warning" : "info";
  for (const name of compiled.policy.declaredTools) {
    const tool = compiled.policy.tool(name);
    if (!formsOf(tool).some(isAllowedWrite)) continue;
    const what = tool.variants.length === 0 ? "it is allowed" : "what it writes is allowed";
    const message = `no tier matches \`${name}\` and it has no \`risk_level\`: ${what}`;
    const remedy = "add a tier or a `risk_level`, or write `default: ask` under `authorization`";
    report(severity, "tool-without-tier", ["tool_schemas", name], message, remedy);
  }
}

/** Of `commands`, what no rule of theirs names. */
function formsOf(tool: CompiledTool): readonly CompiledTool[] {
  if (tool.commandsOf !== null)
    return tool.variants.filter(({ variant }) => variant === UNDERSTOOD);
  return tool.variants.length === 0 ? [tool] : tool.variants;
}

const UNDERSTOOD = "understood";

const BY_DEFAULT = ["preset", "authorization.default"];

function isAllowedWrite({ isRead, tier }: CompiledTool): boolean {
  return !isRead && tier.action === "allow" && BY_DEFAULT.includes(tier.rule);
}
