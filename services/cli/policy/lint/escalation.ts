/** Escalation: levels that can never be reached, and refusals that never stop anything. */
import type { EscalationBlock, PolicyDocument, Threshold } from "../../../core/policy/document.ts";
import { remembersTurns } from "../../../core/policy/windows.ts";
import { REASON_CODES, REASONS } from "../../../core/reasons/reasons.ts";
import type { LintRule, Report } from "./finding.ts";

type EscalationLevel = { readonly name: keyof EscalationBlock; readonly at: number | null };

/** The default levels (docs/policy.md, presets). */
const BALANCED: readonly EscalationLevel[] = [
  { name: "ask", at: 1 },
  { name: "options", at: 2 },
  { name: "user_input", at: 4 },
  { name: "end", at: null },
];

const STRICT: readonly EscalationLevel[] = [
  { name: "ask", at: 1 },
  { name: "options", at: 2 },
  { name: "user_input", at: 3 },
  { name: "end", at: 4 },
];

export const lintEscalation: LintRule = (document, report) => {
  const levels = levelsOf(document);
  lintOrder(document, levels, report);
  lintStop(document, levels, report);
  lintTurns(document, levels, report);
  lintAcknowledgement(document, levels, report);
};

function levelsOf(document: PolicyDocument): readonly EscalationLevel[] {
  const written = document.escalation ?? {};
  const off = document.preset === "observe";
  return (document.preset === "strict" ? STRICT : BALANCED).map(({ name, at }) => {
    const value: Threshold | undefined = name === "end" ? written.end?.at : written[name];
    if (value !== undefined) return { name, at: value === "off" ? null : value };
    return { name, at: off ? null : at };
  });
}

/**
 * A strike answers with the highest level reached, so a level that a higher one precedes never
 * answers.
 */
function lintOrder(
  document: PolicyDocument,
  levels: readonly EscalationLevel[],
  report: Report,
): void {
  levels.forEach((level, index) => {
    if (level.at === null) return;
    const { at } = level;
    const over = levels.slice(index + 1).find((higher) => higher.at !== null && higher.at <= at);
    if (over === undefined) return;
    // The author may have skipped a level on purpose if only the preset has it.
    const written = document.escalation?.[level.name] !== undefined;
    report(
      written ? "error" : "warning",
      "unreachable-level",
      ["escalation", written ? level.name : over.name],
      `the level \`${level.name}\` (strike ${at}) is never reached: \`${over.name}\` comes at strike ${over.at}`,
      "give each level a higher strike than the one before, or write `off`",
    );
  });
}

function lintStop(
  document: PolicyDocument,
  levels: readonly EscalationLevel[],
  report: Report,
): void {
  const stops = levels.some(
    ({ name, at }) => at !== null && (name === "user_input" || name === "end"),
  );
  if (stops || !enforcesStrikes(document)) return;
  report(
    "error",
    "block-without-stop",
    ["escalation"],
    "repeated calls are refused and nothing ever stops them: an agent can continue forever",
    "give `user_input` or `end` a strike",
  );
}

function enforcesStrikes(document: PolicyDocument): boolean {
  if (document.mode === "shadow") return false;
  const preset = document.preset === "observe" ? "shadow" : "enforce";
  return REASON_CODES.filter((code) => REASONS[code].isStrike === true).some(
    (code) => (document.checks?.[code] ?? preset) === "enforce",
  );
}

/** Levels 3 and 4, and everything counted per turn, need proposals that identify the turn. */
function lintTurns(
  document: PolicyDocument,
  levels: readonly EscalationLevel[],
  report: Report,
): void {
  const remedy = "let the platform set `turn`";
  if (levels.some(({ name, at }) => at !== null && (name === "user_input" || name === "end"))) {
    const message =
      "proposals without `turn` are stopped at the repeated call only by `user_input` and `end`";
    report("info", "needs-turn", ["escalation"], message, remedy);
  }
  const byTurn = remembersTurns(document) && document.deduplication?.scope === undefined;
  if (!byTurn && document.deduplication?.scope !== "turn") return;
  const path = byTurn ? ["tool_deduplication"] : ["deduplication", "scope"];
  const message = "calls are remembered for a turn; without `turn` that is the whole conversation";
  report("info", "needs-turn", path, message, remedy);
}

function lintAcknowledgement(
  document: PolicyDocument,
  levels: readonly EscalationLevel[],
  report: Report,
): void {
  const mode = document.acknowledgement?.mode;
  if (mode === undefined || mode === "off") return;
  if (levels.find(({ name }) => name === "options")?.at !== null) return;
  const message = "is never asked for: the level `options`, which asks for it, is off";
  report("warning", "idle-key", ["acknowledgement"], message, "give `options` a strike");
}
