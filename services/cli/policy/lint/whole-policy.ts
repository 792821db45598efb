/** Findings on the policy as a whole. */
import type { PolicyDocument } from "../../../core/policy/document.ts";
import { windowsOf } from "../../../core/policy/windows.ts";
import { voidableRules } from "../trusted-proposals.ts";
import type { LintRule, Report } from "./finding.ts";
import { declaresRead } from "./tools.ts";

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

/** Duplicate windows apply to writes only: a read is answered from memory for its cache time. */
export const lintWindows: LintRule = (document, report) => {
  for (const [name, tool] of Object.entries(document.tool_schemas ?? {})) {
    if (tool.dedupe_window_s === undefined || tool.variants !== undefined) continue;
    if (tool.commands !== undefined || !declaresRead(tool)) continue;
    const message =
      "`dedupe_window_s` does nothing here: how long a read is answered from memory is its `cache_ttl_s`";
    const remedy = `write \`cache_ttl_s: ${tool.dedupe_window_s}\`, or remove it`;
    report("warning", "idle-key", ["tool_schemas", name, "dedupe_window_s"], message, remedy);
  }
  lintShortWindow(document, report);
};

/** The author of a window in seconds does not expect the default of a minute to apply. */
function lintShortWindow(document: PolicyDocument, report: Report): void {
  const { windowMs, cacheMs, cacheWritten } = windowsOf(document, Number.POSITIVE_INFINITY);
  if (cacheWritten || windowMs >= cacheMs) return;
  const inTools = document.tools?.dedupe_window_s !== undefined;
  const path = inTools ? ["tools", "dedupe_window_s"] : ["deduplication", "window_ms"];
  const message = `ends after ${windowMs / 1_000} s for writes; reads are answered from memory for ${cacheMs / 1_000} s regardless`;
  const remedy = inTools ? "write `cache_ttl_s`, too" : "write `cache_ttl_ms`, too";
  report("warning", "short-window", path, message, remedy);
}

/**
 * Only rules for listed agents and for spend: nearly every policy has the others, which `doctor`
 * lists.
 */
export const lintTrustedProposals: LintRule = (document, report) => {
  const rules = voidableRules(document).filter(({ what }) => /kill\.agents|of spend/.test(what));
  for (const { path, what } of rules) {
    const message = `anybody who can write proposals can bypass ${what}`;
    const remedy =
      "where agents write `proposals` themselves, run the gate with `gate.proposals: signed`";
    report("info", "trusted-proposals", path, message, remedy);
  }
};
