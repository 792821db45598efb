/** `callgate approvals show`: everything that a person needs to decide on a held call. */
import type { JsonValue } from "../../core/canonical/json-value.ts";
import type { CallHeld, DecisionEvent, GateEvent } from "../../core/events.ts";
import { REASONS } from "../../core/reasons/reasons.ts";
import { openPolicy } from "../../gate/gate-policy.ts";
import { EXIT_OK, type ExitCode } from "../../process/exit-error.ts";
import { journalFrom } from "../cluster/journal-records.ts";
import { openSource, type Source, type SourceOptions } from "../cluster/open-source.ts";
import { conversationName } from "../conversations/conversation-name.ts";
import type { Terminal } from "../output/terminal.ts";
import { revealed, revealedJson, revealedLines } from "../output/text.ts";
import { type Difference, differences } from "./differences.ts";
import { holdOf } from "./give-verdict.ts";
import type { Hold } from "./hold.ts";
import { approvalOf } from "./list-approvals.ts";
import { shownScope, shownSpeaker } from "./shown-names.ts";
import { reopening } from "./tell-verdict.ts";

export type ShowOptions = SourceOptions & {
  readonly id: string;
  readonly policy: readonly string[];
  readonly json: boolean;
};

type Earlier = {
  readonly callId: string;
  readonly outcome: DecisionEvent["type"];
  readonly atMs: number;
  readonly differences: readonly Difference[];
};

const EARLIER_MAX = 5;
const TEXT_CHARACTERS = 500;
const VALUE_CHARACTERS = 200;
const MS_PER_MINUTE = 60_000;

export async function showApproval(options: ShowOptions, terminal: Terminal): Promise<ExitCode> {
  const source = await openSource(options, terminal);
  try {
    const hold = await holdOf(options.id, source);
    const earlier = await earlierCalls(hold, source);
    const location = await locateRule(hold, options.policy);
    await terminal.out.write(
      options.json
        ? `${JSON.stringify({ ...approvalOf(hold), location, earlierCalls: earlier })}\n`
        : render(hold, earlier, location, Date.now()),
    );
  } finally {
    await source.close();
  }
  return EXIT_OK;
}

/** The latest calls of the same tool in the conversation, the newest first. */
async function earlierCalls(
  { held, partition }: Hold,
  source: Source,
): Promise<readonly Earlier[]> {
  const calls: Earlier[] = [];
  const now = parsed(held.arguments.text);
  for await (const { record } of journalFrom(source, partition)) {
    for (const event of record.events) {
      if (!isDecision(event) || !isBefore(event, held)) continue;
      const {
        call: { callId },
        type: outcome,
        times: { atMs },
      } = event;
      calls.push({
        callId,
        outcome,
        atMs,
        differences: differences(parsed(event.arguments.text), now),
      });
      if (calls.length > EARLIER_MAX) calls.shift();
    }
  }
  return calls.reverse();
}

function isDecision(event: GateEvent): event is DecisionEvent {
  return event.type === "allowed" || event.type === "refused" || event.type === "held";
}

/** Whether the decision is on an earlier call of the same tool in the same conversation. */
function isBefore(event: DecisionEvent, held: CallHeld): boolean {
  return (
    event.call.tool === held.call.tool &&
    event.decisionId !== held.decisionId &&
    event.tenantId === held.tenantId &&
    event.conversationId === held.conversationId &&
    event.times.atMs <= held.times.atMs
  );
}

/** The journal has no text for arguments that could not be parsed. */
function parsed(text: string): JsonValue {
  return text === "" ? null : (JSON.parse(text) as JsonValue);
}

async function locateRule({ held }: Hold, files: readonly string[]): Promise<string | null> {
  if (files.length === 0) return null;
  const { loaded, compiled } = await openPolicy(files);
  const at = loaded.source.locate(held.rule);
  const other =
    compiled.revision === held.policy.revision ? "" : " (of another revision of the policy)";
  if (at === null || at.path === "") return `preset${other}`;
  return `${at.file}:${at.line}:${at.column}${other}`;
}

function render(hold: Hold, earlier: readonly Earlier[], location: string | null, nowMs: number) {
  const { held, waiting, isOfEnded } = hold;
  const ended = isOfEnded ? `, ended: an approved call is refused; ${reopening(hold)}` : "";
  const rows: (readonly [string, string])[] = [
    ["approval", held.holdId],
    ["tool", revealed(held.call.tool, TEXT_CHARACTERS)],
    ["conversation", `${revealed(conversationName(held), TEXT_CHARACTERS)}${ended}`],
    ["call", `${revealed(held.call.callId, TEXT_CHARACTERS)}, decision ${held.decisionId}`],
    ["agent", revealed(held.call.agentId ?? "not stated", TEXT_CHARACTERS)],
    ["held since", new Date(held.times.atMs).toISOString()],
    ["expires", `${new Date(held.expiresAtMs).toISOString()}, ${expiry(held.expiresAtMs - nowMs)}`],
    ["rule", `${held.rule}: ${location ?? "give the policy with --policy to see the line"}`],
    ["bound to", `action ${held.arguments.actionKey}, rule ${held.ruleDigest}`],
    ["further", furtherCalls(held)],
    ["who", whoMay(hold)],
    ["why held", whyHeld(held)],
  ];
  for (const { kind, by } of waiting) {
    rows.push(["said", `${kind} by ${shownSpeaker(by)}; no gate has processed it yet`]);
  }
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    ...rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`),
    "arguments",
    ...prettyLines(held.arguments.text),
    earlier.length === 0
      ? "no earlier call of this tool in the conversation"
      : "earlier calls of this tool in the conversation, the latest first",
    ...earlier.flatMap(earlierLines),
    "",
  ].join("\n");
}

/**
 * Line by line, because text from outside must not move the cursor. Never cut: the approver would
 * approve the rest unseen.
 */
function prettyLines(text: string): readonly string[] {
  const lines = JSON.stringify(parsed(text), null, 2).split("\n");
  return lines.flatMap((line) => revealedLines(line, TEXT_CHARACTERS).map((part) => `  ${part}`));
}

function earlierLines({ callId, outcome, atMs, differences: diffs }: Earlier): readonly string[] {
  const when = new Date(atMs).toISOString();
  const head = `  ${revealed(callId, TEXT_CHARACTERS)}, ${outcome} at ${when}`;
  if (diffs.length === 0) return [`${head}: the same arguments`];
  const rows = diffs.map(({ path, before, now }) => {
    const [was, is] = [before, now].map(valueText);
    const further = was === is ? " (they differ further on)" : "";
    return `    ${revealedJson(path, VALUE_CHARACTERS)}: ${was}, now ${is}${further}`;
  });
  return [head, ...rows];
}

/** Each value is cut separately, so that a long one does not hide the other. */
function valueText(json: string | null): string {
  return json === null ? "absent" : revealedJson(json, VALUE_CHARACTERS);
}

function expiry(leftMs: number): string {
  return leftMs <= 0 ? "expired, not yet applied" : `in ${Math.ceil(leftMs / MS_PER_MINUTE)} min`;
}

/** The hold's message is for the model; an approver needs only what follows its standard words. */
function whyHeld({ policy: { tier }, message }: CallHeld): string {
  const { modelText } = REASONS.approval_required;
  const of = tier === null ? "its tier" : `the tier ${shownSpeaker(tier)}`;
  const detail = message.startsWith(modelText) ? message.slice(modelText.length).trim() : "";
  const asks = `${of} asks for a person's approval before the call may run`;
  return detail === "" ? asks : `${asks}. ${revealed(detail, TEXT_CHARACTERS)}`;
}

/** What an approval of further calls would grant. */
function furtherCalls({ scope, approvals }: CallHeld): string {
  if (approvals > 1) return "none: each call needs its own approval";
  return `--calls grants calls ${shownScope(scope)}`;
}

function whoMay({ held, approvedBy }: Hold): string {
  const agent =
    held.call.agentId === null
      ? "anybody"
      : `anybody but ${shownSpeaker(held.call.agentId)}, who proposed it`;
  const count = held.approvals === 1 ? "" : `; ${held.approvals} different people`;
  const done =
    approvedBy.length === 0
      ? ""
      : `, approved so far by ${approvedBy.map(shownSpeaker).join(", ")}`;
  const reason = held.requireReason ? "; a reason is required" : "";
  return `${agent}${count}${done}${reason}`;
}
