/** One conversation as the journal has it: its calls with their decisions and results. */
import { searchPartition } from "../../client/journal/search-journal.ts";
import type { JournalRecord } from "../../runtime/journal.ts";
import { conversationKey, partitionOf } from "../../runtime/partitioner.ts";
import {
  type ShownDecision,
  type ShownEvent,
  type ShownOrder,
  type ShownReconciled,
  type ShownResult,
  type ShownVerdict,
  shownEvents,
} from "../events/shown-event.ts";
import type { ServedGate } from "../served-gate.ts";

const RECORDS_MAX = 200_000;

export type ConversationName = { readonly tenantId: string; readonly conversationId: string };

export type TimelineCall = {
  readonly decisionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly outcome: ShownDecision["type"];
  /** Of one call: a call that waited for a person has two or more, the oldest first. */
  readonly decisions: readonly ShownDecision[];
  /** The latest; null: none is reported. */
  readonly result: ShownResult | ShownReconciled | null;
};

export type Timeline = ConversationName & {
  readonly ended: boolean;
  /** Whether the beginning of the conversation is included. */
  readonly complete: boolean;
  /** The oldest first. */
  readonly calls: readonly TimelineCall[];
  /** Orders and verdicts of people, the oldest first. */
  readonly orders: readonly (ShownOrder | ShownVerdict)[];
};

/** Null: the journal does not speak of the conversation, as far as it is searched. @throws CallgateError */
export async function readTimeline(
  { client, link }: ServedGate,
  name: ConversationName,
  callsMax: number,
): Promise<Timeline | null> {
  const trail = new Trail(name, callsMax);
  const key = conversationKey(name.tenantId, name.conversationId);
  const partition = partitionOf(key, link.log.partitions);
  await client.timeFor(name.conversationId).search((isOver) => {
    const assertWanted = (): void => {
      if (isOver()) throw new Error("nobody waits for the search any more");
    };
    return searchPartition(link, { partition, offset: 0 }, { find: trail.find, assertWanted });
  });
  return trail.timeline();
}

/** Collects the conversation's events on the way back to its beginning. */
class Trail {
  readonly #name: ConversationName;
  readonly #callsMax: number;
  /** The newest first. */
  readonly #events: ShownEvent[] = [];
  readonly #decisionIds = new Set<string>();
  #records = 0;
  #isComplete = false;

  constructor(name: ConversationName, callsMax: number) {
    this.#name = name;
    this.#callsMax = callsMax;
  }

  /** Returns true once nothing more is wanted. */
  readonly find = (record: JournalRecord): true | undefined => {
    this.#records += 1;
    for (const event of [...shownEvents(record)].reverse()) {
      const { tenantId, conversationId } = this.#name;
      if (event.tenantId !== tenantId || event.conversationId !== conversationId) continue;
      if (!this.#hasRoomFor(event)) return true;
      this.#events.push(event);
      if ("policyRevision" in event && isFresh(record, event.decisionId)) {
        this.#isComplete = true;
        return true;
      }
    }
    return this.#records >= RECORDS_MAX ? true : undefined;
  };

  timeline(): Timeline | null {
    if (this.#events.length === 0) return null;
    const events = [...this.#events].reverse();
    const orders = events.filter(
      (event): event is ShownOrder | ShownVerdict => !("callId" in event),
    );
    const last = orders.findLast(({ type }) => type !== "verdict");
    return {
      ...this.#name,
      ended: last?.type === "conversation_ended",
      complete: this.#isComplete,
      calls: callsOf(events),
      orders,
    };
  }

  #hasRoomFor(event: ShownEvent): boolean {
    if (!("policyRevision" in event)) return true;
    this.#decisionIds.add(event.decisionId);
    return this.#decisionIds.size <= this.#callsMax;
  }
}

function isFresh({ events }: JournalRecord, decisionId: string): boolean {
  return events.some(
    (one) => "conversation" in one && one.decisionId === decisionId && one.conversation.fresh,
  );
}

function callsOf(events: readonly ShownEvent[]): readonly TimelineCall[] {
  const calls = new Map<string, TimelineCall>();
  for (const event of events) {
    if (!("callId" in event)) continue;
    const before = calls.get(event.decisionId);
    if ("policyRevision" in event) calls.set(event.decisionId, withDecision(before, event));
    // A call that was decided before the first record that was searched is left out.
    else if (before !== undefined) calls.set(event.decisionId, { ...before, result: event });
  }
  return [...calls.values()];
}

function withDecision(before: TimelineCall | undefined, event: ShownDecision): TimelineCall {
  const { decisionId, callId, tool, type: outcome } = event;
  const decisions = [...(before?.decisions ?? []), event];
  return { decisionId, callId, tool, outcome, decisions, result: before?.result ?? null };
}
