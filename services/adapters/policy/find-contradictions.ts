/**
 * Finds what a schema cannot: a setting that is written twice on a level, names that refer to
 * nothing, and values that exclude each other. It reads the document as written, so that its
 * problems are reported together with the schema's.
 */
import type { PathSegment } from "../../core/policy/path.ts";
import {
  describeLocation,
  type PolicyProblem,
  type Positions,
  problemAt,
} from "../../core/policy/problem.ts";
import {
  isAlwaysEnforced,
  isReasonCode,
  REASON_CODES,
  REASONS,
} from "../../core/reasons/reasons.ts";
import { readToolName } from "../../core/tool-name.ts";
import { nearest } from "../config/nearest.ts";
import type { RawDocument } from "./fold-blocks.ts";

type Report = (path: readonly PathSegment[], message: string, remedy: string) => void;
type Keyed = Readonly<Record<string, unknown>>;

export function findContradictions(
  document: RawDocument,
  positions: Positions,
): readonly PolicyProblem[] {
  const problems: PolicyProblem[] = [];
  const report: Report = (path, message, remedy) => {
    problems.push(problemAt(positions, path, { message, remedy }));
  };
  const where = (path: readonly PathSegment[]): string =>
    describeLocation(problemAt(positions, path, { message: "", remedy: "" }));
  findDoubles(document, report, where);
  findCodes(document, report);
  findTiers(document, report, where);
  findLifetimes(document, report);
  visitAll(document, ["tool_schemas", "*"], (path, tool) => {
    if (isMap(tool)) findInTool(path, tool, report);
  });
  return problems;
}

type Where = (path: readonly PathSegment[]) => string;

function findDoubles(document: RawDocument, report: Report, where: Where): void {
  if (has(document, "deduplication", "max_history") && has(document, "limits", "recent_calls")) {
    const other = where(["deduplication", "max_history"]);
    const message = `\`recent_calls\` and \`deduplication.max_history\` (${other}) are the same setting`;
    report(["limits", "recent_calls"], message, "keep one of the two");
  }
  const byTurn = document["tool_deduplication"];
  if (!isMap(byTurn) || byTurn["enabled"] !== false) return;
  for (const key of Object.keys(byTurn)) {
    if (!key.endsWith("_threshold")) continue;
    const message = `\`${key}\` contradicts \`enabled: false\``;
    report(["tool_deduplication", key], message, "remove one of the two");
  }
  for (const code of REASON_CODES) {
    if (REASONS[code].isOffWithDuplicates !== true || !has(document, "checks", code)) continue;
    const other = where(["tool_deduplication", "enabled"]);
    const message = `\`${code}\` is set twice: \`tool_deduplication.enabled\` (${other}) switches it off`;
    report(["checks", code], message, "keep one of the two");
  }
}

function findCodes(document: RawDocument, report: Report): void {
  const check = (path: readonly PathSegment[]): void => {
    const code = String(path.at(-1));
    if (!isReasonCode(code)) {
      const meant = nearest(code, REASON_CODES);
      const remedy =
        meant === null ? "see docs/reason-codes.md for the codes" : `did you mean \`${meant}\`?`;
      report(path, `\`${code}\` is not a reason code`, remedy);
    } else if (isAlwaysEnforced(code)) {
      report(path, `\`${code}\` is always enforced and has no mode`, "remove it");
    }
  };
  visitAll(document, ["checks", "*"], check);
  visitAll(document, ["tool_schemas", "*", "checks", "*"], check);
}

/** Words of `unknown_tools` that are no names of tiers. */
const UNKNOWN_WORDS = ["deny", "hitl", "allow"];

function findTiers(document: RawDocument, report: Report, where: Where): void {
  const names = new Map<string, readonly PathSegment[]>();
  visitAll(document, ["authorization", "tiers", "*", "name"], (path, name) => {
    if (typeof name !== "string") return;
    const first = names.get(name);
    if (first !== undefined) {
      report(path, `the tier \`${name}\` is written twice, also at ${where(first)}`, "rename one");
    } else if (UNKNOWN_WORDS.includes(name)) {
      report(path, `\`${name}\` means something else in \`unknown_tools\``, "rename the tier");
    }
    names.set(name, first ?? path);
  });
  const unknown = document["unknown_tools"];
  if (typeof unknown !== "string" || UNKNOWN_WORDS.includes(unknown) || names.has(unknown)) return;
  const choices = [...UNKNOWN_WORDS, ...names.keys()];
  const meant = nearest(unknown, choices);
  const remedy = meant === null ? `write ${choices.join(", ")}` : `did you mean \`${meant}\`?`;
  report(["unknown_tools"], `\`${unknown}\` is not the name of a tier`, remedy);
}

function findLifetimes(document: RawDocument, report: Report): void {
  const conversation = document["conversation"];
  if (!isMap(conversation)) return;
  const { idle_ms: idle, max_age_ms: age } = conversation;
  if (typeof idle === "number" && typeof age === "number" && idle > age) {
    report(["conversation", "idle_ms"], "is longer than `max_age_ms`", "shorten it");
  }
}

function findInTool(path: readonly PathSegment[], tool: Keyed, report: Report): void {
  const name = String(path.at(-1));
  const read = readToolName(name);
  if (!read.ok) report(path, read.problem, "write the name that agents use");
  else if (read.name !== name)
    report(path, "is not as the gate reads it", `write \`${read.name}\``);
  if (tool["read_only"] === true) {
    const writes = writeKeys(tool);
    if (writes !== null) {
      report(
        [...path, "read_only"],
        `contradicts \`${writes}\`: a read changes nothing`,
        "drop one",
      );
    }
  }
  const shorthand = tool["side_effect_resource"];
  if (typeof shorthand === "string" && /[{}]/.test(shorthand)) {
    const message = "is a plain name, which the canonical fields complete: it has no placeholders";
    const remedy = `write effects: [{ resource: "${shorthand}", kind: custom, exclusive: true }]`;
    report([...path, "side_effect_resource"], message, remedy);
  }
  const key = tool["idempotency_argument"];
  const fields = tool["canonical_fields"];
  if (typeof key === "string" && Array.isArray(fields) && fields.includes(key)) {
    const message = `\`${key}\` is the idempotency argument, which is no part of identity`;
    report([...path, "canonical_fields", fields.indexOf(key)], message, "take it out of the list");
  }
}

function writeKeys(tool: Keyed): string | null {
  if (tool["side_effect_resource"] !== undefined) return "side_effect_resource";
  const effects = tool["effects"];
  if (!Array.isArray(effects)) return null;
  return effects.some((effect) => isMap(effect) && effect["kind"] !== "read") ? "effects" : null;
}

function has(document: RawDocument, block: string, key: string): boolean {
  const value = document[block];
  return isMap(value) && Object.hasOwn(value, key);
}

function isMap(value: unknown): value is Keyed {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type Visit = (path: readonly PathSegment[], value: unknown) => void;

/** Calls back for each written value whose path matches the pattern. */
function visitAll(document: unknown, pattern: readonly string[], onMatch: Visit): void {
  visit(document, pattern, [], onMatch);
}

function visit(
  value: unknown,
  pattern: readonly string[],
  path: readonly PathSegment[],
  onMatch: Visit,
): void {
  const [step, ...rest] = pattern;
  if (step === undefined) {
    onMatch(path, value);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, child] of Object.entries(value)) {
    if (step !== "*" && step !== name) continue;
    visit(child, rest, [...path, Array.isArray(value) ? Number(name) : name], onMatch);
  }
}
