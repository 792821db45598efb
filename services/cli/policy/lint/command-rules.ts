/** Rules of `commands` that allow everything, or that match nothing. */
import { loadPrograms } from "../../../adapters/programs/load-programs.ts";
import { compileRun, isInterpreter } from "../../../commands/rules/run-pattern.ts";
import type {
  CommandRule,
  CommandsDocument,
  PolicyDocument,
} from "../../../core/policy/document.ts";
import type { PathSegment } from "../../../core/policy/path.ts";
import type { LintRule, Report } from "./finding.ts";

export const lintCommandRules: LintRule = (document, report) => {
  for (const [name, { commands }] of Object.entries(document.tool_schemas ?? {})) {
    if (commands === undefined) continue;
    const path = ["tool_schemas", name, "commands"];
    (commands.rules ?? []).forEach((rule, index) => {
      const at = [...path, "rules", index];
      lintKeys(commands, rule, at, report);
      lintRun(document, rule, at, report);
      lintEarlier(document, commands, index, at, report);
    });
    lintUnclear(commands, path, report);
  }
};

const KEYS: Readonly<Record<string, readonly (keyof CommandRule)[]>> = {
  shell: ["run", "paths", "writes"],
  git: ["run", "paths", "writes"],
  sql: ["statement", "tables"],
  http: ["method", "host", "path"],
  files: ["paths", "writes"],
};

const ABOUT = [...new Set(Object.values(KEYS).flat())];

function lintKeys(
  { language = "shell" }: CommandsDocument,
  rule: CommandRule,
  at: readonly PathSegment[],
  report: Report,
): void {
  const own = KEYS[language] ?? [];
  const written = ABOUT.filter((key) => rule[key] !== undefined);
  for (const key of written.filter((one) => !own.includes(one))) {
    const message = `\`${key}\` does not apply to \`language: ${language}\``;
    const remedy = `its rules have ${own.map((one) => `\`${one}\``).join(", ")}`;
    report("error", "unfit-rule", [...at, key], message, remedy);
  }
  if (written.length > 0 || rule.when !== undefined) return;
  const message = "matches every call: it names no command";
  report(
    "warning",
    "allows-anything",
    at,
    message,
    `write ${own.map((one) => `\`${one}\``).join(" or ")}`,
  );
}

function lintRun(
  document: PolicyDocument,
  rule: CommandRule,
  at: readonly PathSegment[],
  report: Report,
): void {
  const programs = loadPrograms();
  for (const text of rule.run ?? []) {
    const compiled = compileRun(text, programs);
    if (!compiled.ok) continue;
    for (const part of compiled.impossible) {
      const message = `${part} in the tables of programs: \`${text}\` matches no command`;
      const remedy = "correct the word, or add it to the table (docs/commands.md)";
      report("warning", "unfit-rule", [...at, "run"], message, remedy);
    }
    const open = compiled.spellings.find((one) => isInterpreter(one, programs));
    if (open === undefined || holds(document, rule)) continue;
    const message = `\`${open}\` runs whatever it is told: the rule allows anything`;
    const remedy = "name what it runs, such as `python -m pytest`, or a tier that asks";
    report("warning", "allows-anything", [...at, "run"], message, remedy);
  }
}

/** Whether the rule itself holds or denies. */
function holds(document: PolicyDocument, { tier, risk_level }: CommandRule): boolean {
  const declaredTier = document.authorization?.tiers?.find(({ name }) => name === tier);
  const action = declaredTier?.action ?? tier;
  return action === "hitl" || action === "deny" || risk_level === "HIGH";
}

/** An earlier rule that matches everything that this one matches. */
function lintEarlier(
  document: PolicyDocument,
  { rules = [] }: CommandsDocument,
  index: number,
  at: readonly PathSegment[],
  report: Report,
): void {
  const rule = rules[index] as CommandRule;
  const earlier = rules.slice(0, index).findIndex((one) => covers(document, one, rule));
  if (earlier < 0) return;
  const message = `is never reached: rule ${earlier + 1} matches the same commands and comes first`;
  report("warning", "unfit-rule", at, message, "move it up, or remove it");
}

/**
 * A rule that holds matches all commands with its words; one that allows, only those inside the
 * workspace.
 */
function covers(document: PolicyDocument, first: CommandRule, second: CommandRule): boolean {
  if (first.run === undefined || second.run === undefined) return false;
  if (first.when !== undefined) return false;
  const isPlain = ({ paths, writes }: CommandRule): boolean =>
    paths === undefined && writes === undefined;
  if (!isPlain(first)) return false;
  if (!holds(document, first) && (holds(document, second) || !isPlain(second))) return false;
  const spelled = (rule: CommandRule): readonly string[] =>
    (rule.run ?? []).flatMap((text) => {
      const compiled = compileRun(text, loadPrograms());
      return compiled.ok ? compiled.spellings : [];
    });
  const beginnings = spelled(first);
  const rest = spelled(second);
  return (
    rest.length > 0 &&
    rest.every((one) => beginnings.some((begun) => one === begun || one.startsWith(`${begun} `)))
  );
}

function lintUnclear(
  { rules = [], unclear }: CommandsDocument,
  path: readonly PathSegment[],
  report: Report,
): void {
  if (rules.length > 0 || unclear !== undefined) return;
  const message = "has no rules and no `unclear`: what is not understood gets the tool's own tier";
  report(
    "warning",
    "open-commands",
    path,
    message,
    "write `unclear:` with the name of a tier that asks",
  );
}
