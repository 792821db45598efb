/** Reads the journal from outside a gate, to find the calls that wait for a person. */
import type { DecisionEvent, GateEvent } from "../../core/events.ts";
import { conversationKey } from "../../runtime/partitioner.ts";
import type { DecodedInput } from "../../runtime/ports.ts";
import { JOURNAL_TOPIC } from "../../runtime/topics.ts";
import { journalFrom, journalOf } from "../cluster/journal-records.ts";
import { recordsFrom, type Source } from "../cluster/open-source.ts";
import type { ConversationId } from "../conversations/conversation-name.ts";
import { type Hold, isDecided, whyIgnored } from "./hold.ts";
import { shownSpeaker } from "./shown-names.ts";

/** Holds that no gate has decided yet, the oldest first. */
export async function findHolds(source: Source): Promise<readonly Hold[]> {
  const { log, codec, skipped } = source;
  const scan: HoldScan = { holds: new Map(), ended: new Set() };
  for (let partition = 0; partition < log.partitions; partition += 1) {
    let taken = await log.startOffset("verdicts", partition);
    for await (const { record } of journalFrom(source, partition)) {
      taken = Math.max(taken, record.next.verdicts);
      applyEvents(record.events, partition, scan);
    }
    if (skipped.isWithin(JOURNAL_TOPIC, partition)) {
      await skipped.note(incomplete(partition, log.partitions));
    }
    for await (const record of recordsFrom(source, "verdicts", partition, taken)) {
      const { value, appendTimeMs } = record;
      applyVerdict(codec.decodeInput("verdicts", value), appendTimeMs, scan);
    }
  }
  const holds = [...scan.holds.values()].map((hold) => ({
    ...hold,
    isOfEnded: scan.ended.has(keyOf(hold.held)),
  }));
  return holds.sort((a, b) => a.held.times.atMs - b.held.times.atMs);
}

/**
 * The warning that a list is incomplete. A verdict on an outdated list does no harm, because the
 * gate checks the call's state. A data directory has one partition, which its user never sees.
 */
function incomplete(partition: number, partitions: number): string {
  const where = partitions === 1 ? "approvals" : `approvals of partition ${partition}`;
  return (
    `${where}: waiting calls may be missing, and some that are listed may be ` +
    "decided already; see callgate verify"
  );
}

type HoldScan = {
  readonly holds: Map<string, Hold>;
  /** Conversations that have ended and were not reopened. */
  readonly ended: Set<string>;
};

function keyOf({ tenantId, conversationId }: ConversationId): string {
  return conversationKey(tenantId, conversationId);
}

function applyEvents(
  events: readonly GateEvent[],
  partition: number,
  { holds, ended: conversations }: HoldScan,
): void {
  for (const event of events) {
    applyEnd(event, conversations);
    const ended = endedHold(event);
    if (ended !== null) holds.delete(ended);
    if (event.type === "held") {
      const begun = { approvedBy: [], waiting: [], isOfEnded: false };
      holds.set(event.holdId, { held: event, partition, ...begun });
    }
    if (event.type === "ruled" && event.approvalId !== null)
      approved(event.approvalId, event.by, holds);
  }
}

/**
 * A conversation ends by a person's verdict or by escalation, and continues by a verdict or as a
 * new one.
 */
function applyEnd(event: GateEvent, conversations: Set<string>): void {
  if (event.type === "ruled") {
    if (event.kind === "end") conversations.add(keyOf(event));
    if (event.kind === "resume") conversations.delete(keyOf(event));
    return;
  }
  if (event.type !== "allowed" && event.type !== "refused" && event.type !== "held") return;
  if (event.conversation.fresh) conversations.delete(keyOf(event));
  if (event.type === "refused" && event.raised?.ended === "conversation") {
    conversations.add(keyOf(event));
  }
}

function approved(approvalId: string, by: string, holds: HoldScan["holds"]): void {
  const hold = holds.get(approvalId);
  if (hold === undefined) return;
  holds.set(approvalId, { ...hold, approvedBy: [...hold.approvedBy, by] });
}

function applyVerdict(decoded: DecodedInput, atMs: number, { holds, ended }: HoldScan): void {
  if (!decoded.ok || decoded.input.type !== "verdict") return;
  if (decoded.input.kind === "end") ended.add(keyOf(decoded.input));
  if (decoded.input.kind === "resume") ended.delete(keyOf(decoded.input));
  const { kind, by, approvalId } = decoded.input;
  const hold = approvalId === null ? undefined : holds.get(approvalId);
  if (hold === undefined || isDecided(hold)) return;
  if (kind !== "approve" && kind !== "deny" && kind !== "cancel") return;
  const isLate = kind === "approve" && atMs >= hold.held.expiresAtMs;
  if (isLate || whyIgnored(hold, decoded.input) !== null) return;
  holds.set(hold.held.holdId, { ...hold, waiting: [...hold.waiting, { kind, by }] });
}

/** The hold that a decision ends; a call that is held anew has a new hold. */
function endedHold(event: GateEvent): string | null {
  switch (event.type) {
    case "allowed":
    case "refused":
    case "held":
      return event.approval.approvalId;
    default:
      return null;
  }
}

/** The decisions that ended the holds whose ids begin with `id`, the earliest first. */
export async function findDecided(id: string, source: Source): Promise<readonly DecisionEvent[]> {
  const decisions: DecisionEvent[] = [];
  for await (const { record } of journalOf(source)) {
    decisions.push(...record.events.filter((event) => isEnd(event, id)));
  }
  return decisions;
}

function isEnd(event: GateEvent, id: string): event is DecisionEvent {
  const isDecision = event.type === "allowed" || event.type === "refused" || event.type === "held";
  return isDecision && event.approval.approvalId?.startsWith(id) === true;
}

/** How, when and by whom the hold was decided, as the end of a sentence. */
export function decidedSentence(event: DecisionEvent): string {
  const by = event.approval.approvedBy.map(shownSpeaker).join(" and ");
  const at = `at ${new Date(event.times.atMs).toISOString()}`;
  const said = event.type === "refused" && event.refusal.reason === "approval_denied";
  const who = by === "" ? "" : `, ${said ? "denied or cancelled" : "approved"} by ${by}`;
  switch (event.type) {
    case "allowed":
      return `allowed ${at}${who}`;
    case "refused":
      return `refused (${event.refusal.reason}) ${at}${who}`;
    case "held":
      return `held anew ${at} under ${event.holdId}, because the rule had changed${who}`;
  }
}
