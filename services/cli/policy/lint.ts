/**
 * `callgate policy lint`: finds statements of a valid policy that its author may not have meant.
 */
import type { PolicyDocument } from "../../core/policy/document.ts";
import type { PolicySource } from "../../core/policy/source.ts";
import { lintArgumentPaths } from "./lint/argument-paths.ts";
import { lintBudgetsByName } from "./lint/budgets-by-name.ts";
import { lintCommandRules } from "./lint/command-rules.ts";
import { lintConditionalRules } from "./lint/conditional-rules.ts";
import { lintDefaultAction } from "./lint/default-action.ts";
import { lintEscalation } from "./lint/escalation.ts";
import { type Finding, type LintRule, reportInto } from "./lint/finding.ts";
import { lintKeyArgument } from "./lint/key-argument.ts";
import { lintLimits } from "./lint/limits.ts";
import { lintPatternSyntax, lintPatterns } from "./lint/patterns.ts";
import { lintEdges, lintOneThing } from "./lint/resources.ts";
import { lintTiers } from "./lint/tiers.ts";
import { lintTools } from "./lint/tools.ts";
import { lintTrustedProposals, lintWholePolicy, lintWindows } from "./lint/whole-policy.ts";

const RULES: readonly LintRule[] = [
  lintWholePolicy,
  lintDefaultAction,
  lintTiers,
  lintPatternSyntax,
  lintPatterns,
  lintCommandRules,
  lintConditionalRules,
  lintTools,
  lintArgumentPaths,
  lintKeyArgument,
  lintOneThing,
  lintEdges,
  lintEscalation,
  lintLimits,
  lintBudgetsByName,
  lintWindows,
  lintTrustedProposals,
];

/** All findings, by file and line. The document has passed the loader. */
export function lintPolicy(
  document: PolicyDocument,
  source: PolicySource,
  more: readonly LintRule[] = [],
): readonly Finding[] {
  const findings: Finding[] = [];
  const report = reportInto(findings, source);
  for (const rule of [...RULES, ...more]) rule(document, report);
  const files = [...new Set(findings.map(({ file }) => file))].sort();
  return findings.sort(
    (a, b) =>
      files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column,
  );
}
