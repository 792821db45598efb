/** `callgate explain`: one journaled decision, and what it rests on. */
import type { CallRefused, DecisionEvent } from "../../core/events.ts";
import { REASON_SENTENCES } from "../../core/reason-sentences.ts";
import { JOURNAL_TOPIC } from "../../runtime/topics.ts";
import { conversationName } from "../conversations/conversation-name.ts";
import { usageError } from "../output/cli-error.ts";
import { EXIT_OK, type ExitCode } from "../output/exit-codes.ts";
import { printable } from "../output/printable.ts";
import type { Terminal } from "../output/terminal.ts";
import { openPolicy } from "../policy/open-policy.ts";
import { type CallResult, resultJson, resultOf, resultText } from "./call-result.ts";
import { grantedBy } from "./granted-by.ts";
import { openSource, recordsOf, type Source, type SourceOptions } from "./open-source.ts";

export type ExplainDecisionOptions = SourceOptions & {
  /** The id, or enough of its beginning. */
  readonly id: string;
  readonly policy: readonly string[];
  readonly json: boolean;
};

type Found = {
  readonly partition: number;
  readonly offset: number;
  readonly seq: number;
  readonly event: DecisionEvent;
};

const ID_CHARACTERS_MIN = 6;
const TEXT_CHARACTERS = 500;

export async function runExplainDecision(
  options: ExplainDecisionOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  if (options.id.length < ID_CHARACTERS_MIN) {
    throw usageError(`${options.id}: give ${ID_CHARACTERS_MIN} characters of the id at least`);
  }
  const source = await openSource(options);
  try {
    const found = await findDecision(source, options.id);
    if (found.length === 0) {
      throw usageError(`${options.id}: no decision in the journal has this id; see callgate tail`);
    }
    const ids = new Set(found.map(({ event }) => event.decisionId));
    if (ids.size > 1) {
      throw usageError(`${options.id}: begins ${ids.size} ids: ${[...ids].join(", ")}`);
    }
    await terminal.out.write(await textOf(source, found, options));
  } finally {
    await source.close();
  }
  return EXIT_OK;
}

async function textOf(
  source: Source,
  found: readonly Found[],
  { policy, json }: ExplainDecisionOptions,
): Promise<string> {
  const places: string[] = [];
  const grants: (string | null)[] = [];
  const results: (CallResult | null)[] = [];
  for (const one of found) {
    const { event } = one;
    places.push(await placeOf(event, policy));
    const allowed = event.type === "allowed" ? event : null;
    grants.push(allowed === null ? null : await grantedBy(source, allowed, one));
    results.push(allowed === null ? null : await resultOf(source, allowed, one));
  }
  // The line that the call came under: what it was held for, where a person let it run.
  const ruled = found.findLastIndex(({ event }) => ruleOf(event) !== null);
  if (json) {
    const grantedBy = grants.at(-1) ?? null;
    const result = resultJson(results.at(-1) ?? null);
    return `${JSON.stringify({ decisions: found, place: places.at(ruled), grantedBy, result })}\n`;
  }
  return found
    .map((one, index) => {
      const [granted, result] = [grants[index] ?? null, results[index] ?? null];
      return render(one, { place: places[index] ?? "", granted, result });
    })
    .join("\n");
}

/** Everything journaled under the id: held first and decided later are two. */
export async function findDecision(source: Source, id: string): Promise<readonly Found[]> {
  const found: Found[] = [];
  for await (const { partition, record } of recordsOf(source, JOURNAL_TOPIC)) {
    if (record.value === null) continue;
    const { seq, events } = source.codec.decodeJournal(record.value);
    for (const event of events) {
      if (event.type !== "allowed" && event.type !== "refused" && event.type !== "held") continue;
      if (event.decisionId.startsWith(id)) {
        found.push({ partition, offset: record.offset, seq, event });
      }
    }
  }
  return found;
}

/** The line of the rule, where the policy that decided is at hand. */
async function placeOf(event: DecisionEvent, files: readonly string[]): Promise<string> {
  const rule = ruleOf(event);
  if (rule === null) return "no rule was against it";
  if (files.length === 0) return "give the policy with --policy to see the line";
  const { loaded, compiled } = await openPolicy(files);
  const other = compiled.revision === event.policy ? "" : " (of another revision of the policy)";
  if (rule === "gate") return "always: no policy can change it";
  const at = loaded.source.locate(rule);
  if (at === null || at.path === "") return `of the preset${other}`;
  return `${at.file}:${at.line}:${at.column}${other}`;
}

function ruleOf(event: DecisionEvent): string | null {
  if (event.type === "refused") return event.refusal.rule;
  return event.type === "held" ? event.rule : null;
}

type Beside = {
  readonly place: string;
  readonly granted: string | null;
  readonly result: CallResult | null;
};

function render(
  { event, partition, offset, seq }: Found,
  { place, granted, result }: Beside,
): string {
  const rows: (readonly [string, string])[] = [
    ["decision", event.decisionId],
    ["outcome", event.type],
    ["call", `${event.tool} ${printable(event.arguments, TEXT_CHARACTERS)}`],
    ["conversation", `${conversationName(event)}, call ${event.callId}`],
    ["at", new Date(event.atMs).toISOString()],
    ...outcomeRows(event),
    ...(granted === null ? [] : [["granted by", granted] as const]),
    ...(event.type === "allowed" ? [["result", resultText(result)] as const] : []),
    ["rule", `${ruleOf(event) ?? "none"}: ${place}`],
    ["policy", event.policy],
    ...event.warnings.map(({ reason, message }) => ["warning", `${reason}: ${message}`] as const),
    ["journal", `partition ${partition}, offset ${offset}, seq ${seq}`],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join("");
}

function outcomeRows(event: DecisionEvent): readonly (readonly [string, string])[] {
  switch (event.type) {
    case "refused":
      return refusalRows(event);
    case "held":
      return [["waits for", `${event.approvals} approval(s), id ${event.holdId}`]];
    case "allowed":
      return [
        ...(event.approvedBy.length > 0
          ? [["approved by", event.approvedBy.join(", ")] as const]
          : []),
        ["attempt", String(event.occurrence.attempt)],
      ];
  }
}

function refusalRows({ refusal, approvedBy }: CallRefused): readonly (readonly [string, string])[] {
  // Of a held call that a person denied, who did is told where an approval tells who gave it.
  const isDenied = refusal.reason === "approval_denied" && approvedBy.length > 0;
  const rows: (readonly [string, string])[] = [
    ["reason", `${refusal.reason}: ${REASON_SENTENCES[refusal.reason].operator}`],
    ...(isDenied
      ? [["denied by", printable(approvedBy.join(", "), TEXT_CHARACTERS)] as const]
      : []),
    ["told", printable(refusal.message, TEXT_CHARACTERS)],
  ];
  const { previousCall: earlier, conflict } = refusal;
  if (earlier !== null) {
    const when = new Date(earlier.atMs).toISOString();
    const what = `${earlier.tool}, call ${earlier.callId} at ${when}, ${earlier.status}`;
    rows.push(["earlier call", `${what}, decision ${earlier.decisionId}`]);
  }
  if (conflict !== null) rows.push(["conflict", conflict.path.join(" → ")]);
  for (const { path, message } of refusal.problems) rows.push(["problem", `${path}: ${message}`]);
  return rows;
}
