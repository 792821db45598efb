/** What the journal says of a held call and of the conversation before it. */
import type { PendingCall } from "../client/api/gate-types.ts";
import type { JournaledCall } from "../client/journal/recent-calls.ts";
import { isDecision } from "../client/journal/recent-calls.ts";
import { readJournalRecord, searchPartition } from "../client/journal/search-journal.ts";
import type { JsonObject } from "../core/canonical/json-value.ts";
import type { CallHeld, DecisionEvent } from "../core/events.ts";
import type { JournalRecord } from "../runtime/journal.ts";
import type { ServedGate } from "./served-gate.ts";

export type EarlierCall = {
  readonly decisionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly outcome: DecisionEvent["type"];
  /** Of a refusal. */
  readonly reason: string | null;
  /** Sensitive values as digests; null if they could not be parsed. */
  readonly arguments: JsonObject | null;
  /** Unix time in ms. */
  readonly at: number;
};

const EARLIER_MAX = 20;

/** The hold as it was journaled; undefined if retention has deleted it. */
export async function readHold(
  { link }: ServedGate,
  { position }: JournaledCall,
  approvalId: string,
): Promise<CallHeld | undefined> {
  const record = await readJournalRecord(link, position);
  const isHold = (event: { readonly type: string }): event is CallHeld =>
    event.type === "held" && (event as CallHeld).holdId === approvalId;
  return record?.events.find(isHold);
}

/**
 * The latest calls of the conversation that were decided before the hold, the oldest first; at most
 * 20, and none from before the conversation began afresh.
 */
export async function readEarlierCalls(
  { link }: ServedGate,
  held: CallHeld,
  partition: number,
): Promise<readonly EarlierCall[]> {
  const calls: EarlierCall[] = [];
  const find = ({ events }: JournalRecord): true | undefined => {
    for (const event of [...events].reverse()) {
      if (!isDecision(event) || !isOfConversation(event, held)) continue;
      const isEarlier = event.times.atMs <= held.times.atMs && event.decisionId !== held.decisionId;
      if (isEarlier) calls.unshift(earlierCall(event));
      if (calls.length >= EARLIER_MAX || event.conversation.fresh) return true;
    }
    return undefined;
  };
  await searchPartition(link, { partition, offset: 0 }, { find, assertWanted: () => undefined });
  return calls;
}

function isOfConversation(event: DecisionEvent, { tenantId, conversationId }: CallHeld): boolean {
  return event.tenantId === tenantId && event.conversationId === conversationId;
}

export function earlierCall(event: DecisionEvent): EarlierCall {
  const { decisionId, type: outcome, call, times } = event;
  const { text } = event.arguments;
  return {
    ...{ decisionId, outcome, callId: call.callId, tool: call.tool, at: times.atMs },
    reason: event.type === "refused" ? event.refusal.reason : null,
    arguments: text === "" ? null : (JSON.parse(text) as JsonObject),
  };
}

/** A hold as `pending` of the library shows it. */
export function pendingView(held: CallHeld, approvedBy: readonly string[]): PendingCall {
  return {
    ...{ approvalId: held.holdId, decisionId: held.decisionId, tenantId: held.tenantId },
    ...{ conversationId: held.conversationId, agentId: held.call.agentId },
    ...{ callId: held.call.callId, tool: held.call.tool },
    arguments: JSON.parse(held.arguments.text) as JsonObject,
    ...{ heldAt: held.times.atMs, expiresAt: held.expiresAtMs, message: held.message },
    ...{ rule: held.rule, requireReason: held.requireReason, approvals: held.approvals },
    ...{ approvedBy, further: held.scope },
  };
}
