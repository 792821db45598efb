/**
 * Patterns that match nothing: written in another syntax than globs, or nearly the name of a tool.
 */
import { nearest } from "../../../adapters/config/nearest.ts";
import type { PolicyDocument } from "../../../core/policy/document.ts";
import type { PathSegment } from "../../../core/policy/path.ts";
import { compileToolGlobs } from "../../../core/policy/tool-glob.ts";
import type { LintRule, Report } from "./finding.ts";

/** Shorter words are too similar to others: `get_` and `set_`. */
const LETTERS_MIN = 5;

/** Patterns of tiers and of the kill switch that nearly match a declared tool. */
export const lintPatterns: LintRule = (document, report) => {
  (document.authorization?.tiers ?? []).forEach(({ pattern }, index) => {
    lintPattern(document, pattern, ["authorization", "tiers", index, "pattern"], report);
  });
  (document.kill?.tools ?? []).forEach((pattern, index) => {
    lintPattern(document, pattern, ["kill", "tools", index], report);
  });
};

function lintPattern(
  document: PolicyDocument,
  pattern: string,
  path: readonly PathSegment[],
  report: Report,
): void {
  const names = Object.keys(document.tool_schemas ?? {});
  for (const glob of pattern.split("|").map((one) => one.trim())) {
    if (names.some(compileToolGlobs(glob, true))) continue;
    const meant = findNearMatch(glob, names);
    if (meant === null) continue;
    const message = `\`${glob}\` matches none of the declared tools, and nearly \`${meant.name}\``;
    report("warning", "misspelt-pattern", path, message, `did you mean \`${meant.glob}\`?`);
  }
}

/** The tool that a glob with one literal nearly matches, and the corrected glob. */
function findNearMatch(
  glob: string,
  names: readonly string[],
): { readonly name: string; readonly glob: string } | null {
  const [before = "", after, ...more] = glob.split("*");
  const literal = before === "" ? (after ?? "") : before;
  const isOneLiteral = more.every((part) => part === "") && (before === "" || !after);
  if (!isOneLiteral || literal.length < LETTERS_MIN) return null;
  const cut = cutterFor(glob, literal);
  const parts = names.flatMap((name) => [name, lastSegment(name)].flatMap(cut));
  const initial = literal.charAt(0).toLowerCase();
  const meant = nearest(
    literal,
    parts.filter((part) => part.charAt(0).toLowerCase() === initial),
  );
  if (meant === null) return null;
  const corrected = glob.replace(literal, meant);
  const name = names.find(compileToolGlobs(corrected, true));
  return name === undefined ? null : { name, glob: corrected };
}

/**
 * The parts of a name that the literal may stand for: the whole, or a prefix or suffix of similar
 * length.
 */
function cutterFor(glob: string, literal: string): (name: string) => readonly string[] {
  if (!glob.includes("*")) return (name) => [name];
  const lengths = [literal.length, literal.length + 1, literal.length - 1];
  return glob.startsWith("*")
    ? (name) => lengths.map((length) => name.slice(-length))
    : (name) => lengths.map((length) => name.slice(0, length));
}

function lastSegment(name: string): string {
  return name.split(/[/.:-]|__/).at(-1) ?? name;
}

type Fault = { readonly message: string; readonly remedy: string };

const GLOBS = "get_*|list_*";

/** Patterns in another syntax than globs, which therefore match nothing. */
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
    const message = `\`${pattern}\` is one glob with a comma or a semicolon in it, not a list`;
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
