/** Findings on the policy as a whole. */
import type { LintRule } from "./finding.ts";

export const lintWholePolicy: LintRule = (document, report) => {
  const tools = Object.keys(document.tool_schemas ?? {});
  const tiers = document.authorization?.tiers ?? [];
  if (tools.length === 0 && tiers.length === 0) {
    const message =
      "the policy names neither tools nor tiers: every tool is a known, undeclared write";
    const remedy = "declare tools under `tool_schemas`, or tiers under `authorization`";
    report("warning", "declares-nothing", [], message, remedy);
  }
  if (document.unknown_tools === "allow") {
    const message = "tools that the policy does not know are allowed as undeclared writes";
    report("warning", "unknown-allowed", ["unknown_tools"], message, "deny them, or hold them");
  }
  const unknown = document.unknown_tools ?? "deny";
  if (unknown !== "deny" && document.checks?.["unknown_tool"] !== undefined) {
    const message = `\`unknown_tool\` does nothing: \`unknown_tools\` is \`${unknown}\``;
    report("warning", "idle-key", ["checks", "unknown_tool"], message, "remove it");
  }
  if (document.mode === "shadow") {
    const message = "the policy decides and refuses nothing";
    report("info", "shadow", ["mode"], message, "write `enforce` once its decisions are right");
  }
  const threshold = document.deduplication?.loop_threshold;
  if (typeof threshold?.any_output === "number") {
    const message = `${threshold.any_output} identical calls are a loop even where each answer is new`;
    const remedy =
      "write `{ same_output: 3, any_output: off }`, or declare `polling` on such tools";
    report("info", "any-output", ["deduplication", "loop_threshold"], message, remedy);
  }
};
