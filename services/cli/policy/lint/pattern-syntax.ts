/** Patterns in another syntax than globs, which therefore match nothing. */
import type { PolicyDocument } from "../../../core/policy/document.ts";
import type { PathSegment } from "../../../core/policy/path.ts";
import type { LintRule, Report } from "./finding.ts";

type Fault = { readonly message: string; readonly remedy: string };

const GLOBS = "get_*|list_*";

export const lintPatternSyntax: LintRule = (document, report) => {
  const reportFault = (fault: Fault | null, path: readonly PathSegment[]): void => {
    if (fault !== null) report("warning", "pattern-syntax", path, fault.message, fault.remedy);
  };
  (document.authorization?.tiers ?? []).forEach(({ pattern }, index) => {
    reportFault(faultOfNames(pattern), ["authorization", "tiers", index, "pattern"]);
  });
  const { tools = [], agents = [], tenants = [] } = document.kill ?? {};
  tools.forEach((pattern, index) => {
    reportFault(faultOfNames(pattern), ["kill", "tools", index]);
  });
  agents.forEach((pattern, index) => {
    reportFault(faultOfTexts(pattern), ["kill", "agents", index]);
  });
  tenants.forEach((pattern, index) => {
    reportFault(faultOfTexts(pattern), ["kill", "tenants", index]);
  });
  for (const [name, { variants }] of Object.entries(document.tool_schemas ?? {})) {
    (variants?.rules ?? []).forEach(({ like = "" }, index) => {
      reportFault(faultOfTexts(like), ["tool_schemas", name, "variants", "rules", index, "like"]);
    });
  }
  lintKeys(document, report);
};

/** For patterns of tool names, which have no spaces, commas or brackets. */
function faultOfNames(pattern: string): Fault | null {
  if (/[,;]|\S\s+[^\s|]/.test(pattern.replaceAll(/\s*\|\s*/g, "|"))) {
    const message = `\`${pattern}\` has a comma, a semicolon or a space, which no name of a tool has`;
    return { message, remedy: `separate globs by \`|\`: ${GLOBS}` };
  }
  return /[?[\]{}^$()+\\]/.test(pattern) ? regularExpression(pattern) : null;
}

/**
 * For patterns of arbitrary text: reports only whole expressions or lists, as single characters may
 * be meant literally.
 */
function faultOfTexts(pattern: string): Fault | null {
  if (/^[^\s,;|]+(?:\s*[,;]\s*[^\s,;|]+)+$/.test(pattern) && /\*|[,;]\s/.test(pattern)) {
    const message = `\`${pattern}\` is one glob with a comma or a semicolon in it, and no list`;
    return { message, remedy: `separate globs by \`|\`: ${GLOBS}` };
  }
  const parts = pattern.split("|").map((part) => part.trim());
  const isExpression = parts.some((part) => /^\^|\$$/.test(part) || !isBalanced(part));
  return isExpression ? regularExpression(pattern) : null;
}

/** `(get|list)_*` is two globs, `(get` and `list)_*`. */
function isBalanced(part: string): boolean {
  return part.split("(").length === part.split(")").length;
}

function regularExpression(pattern: string): Fault {
  const message = `\`${pattern}\` looks like a regular expression; only \`*\` and \`|\` are special`;
  return { message, remedy: `write globs: ${GLOBS}` };
}

function lintKeys(document: PolicyDocument, report: Report): void {
  for (const name of Object.keys(document.tool_schemas ?? {})) {
    if (!/[*|]|^\^|\$$/.test(name)) continue;
    const message = `\`${name}\` is the name of one tool: keys of \`tool_schemas\` are no patterns`;
    const remedy = "name each tool, or write a tier with this pattern";
    report("warning", "pattern-syntax", ["tool_schemas", name], message, remedy);
  }
}
