/**
 * What reads show of writes whose outcome is unknown. A read counts that was allowed after the outcome was
 * found to be unknown, and whose declared resources are those of the write: an empty list of something else
 * says nothing.
 */
import { trieVisit } from "../../collections/trie.ts";
import { parseCanonical } from "../canonical/parse-canonical.ts";
import { isEmptyResult } from "../decide/is-empty-result.ts";
import { isObject } from "../policy/argument-path.ts";
import { isContained } from "../policy/resource-graph.ts";
import { putOpen } from "./open-calls.ts";
import type { OutcomeReport } from "./outcome-report.ts";
import { callsOfAction, loopKeyOf } from "./recent-calls.ts";
import type { OpenCall, StateDraft } from "./state.ts";

/** Shorter values are too often part of something else. */
const VALUE_MIN = 3;

/** Notes the output of a read on every write of unknown outcome that it may show. */
export function noteLook(state: StateDraft, read: OpenCall, report: OutcomeReport): void {
  // The read itself is open until now.
  if (!read.isRead || report.status !== "succeeded" || report.output === null) return;
  const writes: OpenCall[] = [];
  trieVisit(state.open, (open) => {
    if (open.status === "unknown" && mayShow(read, open)) writes.push(open);
    return false;
  });
  for (const write of writes) {
    const shown = showsOf(state, read, report, write);
    if (shown !== null) putOpen(state, { ...write, shown });
  }
}

function mayShow(read: OpenCall, write: OpenCall): boolean {
  if (write.isRead || write.shown === "effect" || read.n <= (write.unknownN ?? Infinity))
    return false;
  const [seen, written] = [read.call.resources, write.call.resources];
  if (seen === null || written === null) return false;
  return seen.some((one) =>
    written.some((other) => one === other || isContained(one, other) || isContained(other, one)),
  );
}

/** Null: the output says nothing of the write. */
function showsOf(
  state: StateDraft,
  read: OpenCall,
  report: OutcomeReport,
  write: OpenCall,
): OpenCall["shown"] {
  if (write.said === null || read.said === null || report.output === null) return null;
  if (isAsBefore(state, read, report, write)) return "nothing";
  const values = listValues(write.said, read.said);
  const output = report.output.toLowerCase();
  if (values.some(({ text }) => output.includes(text))) return "effect";
  if (isEmptyResult(report.output, read.said)) return "nothing";
  return namesOthers(report.output, values) ? "nothing" : null;
}

/** Whether the same read gave the same output before the write was allowed. */
function isAsBefore(
  state: StateDraft,
  read: OpenCall,
  { maskedDigest }: OutcomeReport,
  write: OpenCall,
): boolean {
  const calls = callsOfAction(state, loopKeyOf(read.actionKey, read.agentId));
  const before = calls.findLast(({ n }) => n < write.n);
  if (before === undefined || maskedDigest === null) return false;
  return before.status === "succeeded" && before.maskedDigest === maskedDigest;
}

interface Value {
  readonly name: string;
  /** In lower case. */
  readonly text: string;
}

/** The arguments of the write that may name its object: those that the read was not asked with. */
function listValues(said: string, asked: string): readonly Value[] {
  const askedText = asked.toLowerCase();
  return listLeaves("", JSON.parse(said)).filter(
    ({ text }) => text.length >= VALUE_MIN && !askedText.includes(text),
  );
}

/** Texts and numbers; elements of a list have its name. */
function listLeaves(name: string, value: unknown): readonly Value[] {
  if (typeof value === "string" || typeof value === "number") {
    return [{ name, text: String(value).toLowerCase() }];
  }
  if (Array.isArray(value)) return value.flatMap((inner) => listLeaves(name, inner));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => listLeaves(key, inner));
}

/** Whether the output has a member of the name of such an argument: by then, only with other values. */
function namesOthers(output: string, values: readonly Value[]): boolean {
  const parsed = parseCanonical(output);
  if (!parsed.ok) return false;
  const names = new Set(values.map(({ name }) => name));
  const has = (value: unknown): boolean => {
    if (Array.isArray(value)) return value.some(has);
    if (!isObject(value as never)) return false;
    return Object.entries(value as object).some(([name, inner]) => names.has(name) || has(inner));
  };
  return has(parsed.value);
}
