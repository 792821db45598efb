/** Patterns of tiers and of the kill switch that match no declared tool, and nearly match one. */
import { nearest } from "../../../adapters/config/nearest.ts";
import type { PolicyDocument } from "../../../core/policy/document.ts";
import type { PathSegment } from "../../../core/policy/path.ts";
import { compileToolGlobs } from "../../../core/policy/tool-glob.ts";
import type { LintRule, Report } from "./finding.ts";

/** Shorter words are too similar to others: `get_` and `set_`. */
const LETTERS_MIN = 5;

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
