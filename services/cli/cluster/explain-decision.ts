/** `callgate explain`: one journaled decision, and the facts behind it. */
import {
  type CallResult,
  earlierVerdict,
  ruleOfDecision,
  type SaidVerdict,
  verdictsOn,
} from "../../client/journal/decision-facts.ts";
import { listMasked } from "../../core/decide/mask-volatile.ts";
import type { CallRefused, DecisionEvent, GateEvent, VerdictRuled } from "../../core/events.ts";
import { REASONS } from "../../core/reasons/reasons.ts";
import { openPolicy } from "../../gate/gate-policy.ts";
import { EXIT_OK, type ExitCode, usageError } from "../../process/exit-error.ts";
import { conversationName } from "../conversations/conversation-name.ts";
import type { Terminal } from "../output/terminal.ts";
import { printable } from "../output/text.ts";
import { grantedBy, resultJson, resultOf, resultText, verdictRows } from "./decision-facts.ts";
import { journalOf } from "./journal-records.ts";
import { openSource, type Source, type SourceOptions } from "./open-source.ts";

export type ExplainDecisionOptions = SourceOptions & {
  /** The decision id, or its beginning. */
  readonly id: string;
  readonly policy: readonly string[];
  readonly json: boolean;
};

type JournaledDecision = {
  readonly partition: number;
  readonly offset: number;
  readonly seq: number;
  readonly event: DecisionEvent;
  /** The verdicts that led to it. */
  readonly verdicts: readonly SaidVerdict[];
};

const ID_CHARACTERS_MIN = 6;
const TEXT_CHARACTERS = 500;
const ROW_CHARACTERS = 4_000;
const MASKED_SHOWN = 8;

export async function runExplainDecision(
  options: ExplainDecisionOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  if (options.id.length < ID_CHARACTERS_MIN) {
    throw usageError(`${options.id}: give ${ID_CHARACTERS_MIN} characters of the id at least`);
  }
  const source = await openSource(options, terminal);
  try {
    const decisions = await findDecision(source, options.id);
    if (decisions.length === 0) {
      throw usageError(`${options.id}: no decision in the journal has this id; see callgate tail`);
    }
    const ids = new Set(decisions.map(({ event }) => event.decisionId));
    if (ids.size > 1) {
      throw usageError(
        `${options.id}: is the beginning of ${ids.size} ids: ${[...ids].join(", ")}`,
      );
    }
    await terminal.out.write(await textOf(source, decisions, options));
  } finally {
    await source.close();
  }
  return EXIT_OK;
}

async function textOf(
  source: Source,
  decisions: readonly JournaledDecision[],
  { policy, json }: ExplainDecisionOptions,
): Promise<string> {
  const locations: string[] = [];
  const grants: (string | null)[] = [];
  const results: (CallResult | null)[] = [];
  for (const one of decisions) {
    const { event } = one;
    locations.push(await locateRule(event, policy));
    const allowed = event.type === "allowed" ? event : null;
    grants.push(allowed === null ? null : await grantedBy(source, allowed, one));
    results.push(allowed === null ? null : await resultOf(source, allowed, one));
  }
  // The line of the rule that decided; for a call that a person allowed, the rule that held it.
  const ruled = decisions.findLastIndex(({ event }) => ruleOfDecision(event) !== null);
  if (json) {
    const grantedBy = grants.at(-1) ?? null;
    const result = resultJson(results.at(-1) ?? null);
    return `${JSON.stringify({ decisions, location: locations.at(ruled), grantedBy, result })}\n`;
  }
  return decisions
    .map((one, index) => {
      const [granted, result] = [grants[index] ?? null, results[index] ?? null];
      return render(one, { location: locations[index] ?? "", granted, result });
    })
    .join("\n");
}

/** Every decision with this id: a call that was held first and decided later has two. */
export async function findDecision(
  source: Source,
  id: string,
): Promise<readonly JournaledDecision[]> {
  const decisions: JournaledDecision[] = [];
  const said = new Map<string, SaidVerdict[]>();
  for await (const { partition, offset, record } of journalOf(source)) {
    for (const event of record.events) {
      if (!isAbout(event, id)) continue;
      // A call that is held anew has another approval id, which voids earlier verdicts.
      const { approvalId } = event.type === "ruled" ? event : event.approval;
      const held = `${event.decisionId} ${approvalId}`;
      const earlier = said.get(held) ?? [];
      if (event.type === "ruled") {
        said.set(held, [...earlier, earlierVerdict(event)]);
        continue;
      }
      const verdicts = verdictsOn(event, record, earlier);
      decisions.push({ partition, offset, seq: record.seq, event, verdicts });
    }
  }
  return decisions;
}

type OfDecision = DecisionEvent | (VerdictRuled & { readonly decisionId: string });

/** Whether the event is a decision with this id, or one of several approvals that it needed. */
function isAbout(event: GateEvent, id: string): event is OfDecision {
  const { type } = event;
  if (type !== "allowed" && type !== "refused" && type !== "held" && type !== "ruled") return false;
  return event.decisionId?.startsWith(id) ?? false;
}

/** The line of the rule, if the policy that decided is at hand. */
async function locateRule(event: DecisionEvent, files: readonly string[]): Promise<string> {
  const rule = ruleOfDecision(event);
  if (rule === null) return "no rule was against it";
  if (files.length === 0) return "give the policy with --policy to see the line";
  const { loaded, compiled } = await openPolicy(files);
  const other =
    compiled.revision === event.policy.revision ? "" : " (of another revision of the policy)";
  if (rule === "gate") return "always: no policy can change it";
  const at = loaded.source.locate(rule);
  if (at === null || at.path === "") return `from the preset${other}`;
  return `${at.file}:${at.line}:${at.column}${other}`;
}

type Beside = {
  readonly location: string;
  readonly granted: string | null;
  readonly result: CallResult | null;
};

function render(
  { event, partition, offset, seq, verdicts }: JournaledDecision,
  { location, granted, result }: Beside,
): string {
  const rows: Row[] = [
    ["decision", event.decisionId],
    ["outcome", event.type],
    ["call", `${event.call.tool} ${printable(event.arguments.text, TEXT_CHARACTERS)}`],
    ["conversation", `${conversationName(event)}, call ${event.call.callId}`],
    ["at", new Date(event.times.atMs).toISOString()],
    ...outcomeRows(event, verdicts),
    ...(granted === null ? [] : [["granted by", granted] as const]),
    ...(event.type === "allowed" ? [["result", resultText(result)] as const] : []),
    ...maskedRows(event, result),
    ...tierRows(event),
    ["rule", `${ruleOfDecision(event) ?? "none"}: ${location}`],
    ["policy", event.policy.revision],
    ...event.notices.warnings.map(
      ({ reason, message }) => ["warning", `${reason}: ${message}`] as const,
    ),
    ["journal", `partition ${partition}, offset ${offset}, seq ${seq}`],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  // Most rows have names and texts of agents and people, none of which may start a new line.
  return rows
    .map(([name, value]) => `${name.padEnd(width)}  ${printable(value, ROW_CHARACTERS)}\n`)
    .join("");
}

type Row = readonly [name: string, value: string];

/** Which parts of its output, or of its error, are left out where calls are compared. */
function maskedRows(event: DecisionEvent, result: CallResult | null): readonly Row[] {
  if (result?.type !== "result_recorded") return [];
  const { output, error } = result;
  const text = error === null ? output : `${error.message}\n${output ?? ""}`;
  if (text === null) return [];
  // Errors are compared without repeated arguments, outputs of writes with them.
  const said = event.policy.isRead || error !== null ? event.arguments.text : null;
  const parts = listMasked(text, said === "" ? null : said);
  if (parts.length === 0) return [];
  const shown = parts.slice(0, MASKED_SHOWN).map(({ name, part }) => `${name} ${part}`);
  const more = parts.length > shown.length ? `, and ${parts.length - shown.length} more` : "";
  return [["masked", `${shown.join(", ")}${more}: left out where calls are compared`]];
}

/** Why the call may run, if no rule was against it. */
function tierRows({ policy: { tier, tierRule } }: DecisionEvent): readonly Row[] {
  return tierRule === null ? [] : [["tier", `${tier ?? "none"}, by ${tierRule}`]];
}

function outcomeRows(event: DecisionEvent, verdicts: readonly SaidVerdict[]): readonly Row[] {
  switch (event.type) {
    case "refused":
      return refusalRows(event, verdicts);
    case "held":
      return [["waits for", `${event.approvals} approval(s), id ${event.holdId}`]];
    case "allowed":
      return [...verdictRows(event, verdicts), ["attempt", String(event.execution.attempt)]];
  }
}

function refusalRows(event: CallRefused, verdicts: readonly SaidVerdict[]): readonly Row[] {
  const { refusal } = event;
  const rows: Row[] = [
    [
      "reason",
      `${refusal.reason}: ${REASONS[refusal.reason].cause} ${REASONS[refusal.reason].remedy}`,
    ],
    ...verdictRows(event, verdicts),
    ["message", printable(refusal.message, TEXT_CHARACTERS)],
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
