/**
 * The conversations that the end of the journal speaks of: read once as far back as the bound says,
 * then followed.
 */
import type { CommittedRecord } from "../../runtime/journal.ts";
import { conversationKey } from "../../runtime/partitioner.ts";
import {
  type ShownDecision,
  type ShownEvent,
  type ShownReconciled,
  type ShownResult,
  shownEvents,
} from "../events/shown-event.ts";
import type { JournalTail } from "../journal/journal-tail.ts";
import { readOn } from "../journal/read-on.ts";

/** Records of the journal that the first request reads, of all partitions together. */
const RECORDS_MAX = 100_000;
const CONVERSATIONS_MAX = 10_000;
/** Of one conversation. */
const UNSETTLED_MAX = 100;

export type ConversationSummary = {
  readonly tenantId: string;
  readonly conversationId: string;
  /** Of the first call that is counted. */
  readonly startedAt: number;
  readonly lastActivityAt: number;
  readonly ended: boolean;
  /** Calls by their latest decision: `held` waits now. */
  readonly calls: { readonly allowed: number; readonly refused: number; readonly held: number };
  /** Allowed calls by how they ended; the others still run, or nobody has reported. */
  readonly results: {
    readonly succeeded: number;
    readonly failed: number;
    readonly not_executed: number;
    readonly unknown: number;
  };
};

export class RecentConversations {
  readonly #tail: JournalTail;
  /** By conversation, the latest activity last. */
  readonly #conversations = new Map<string, Counted>();
  #since: number | null = null;
  #reading: Promise<void> | undefined;

  constructor(tail: JournalTail) {
    this.#tail = tail;
  }

  /** Older activity is not included (Unix time in ms); null: nothing is left out. */
  get since(): number | null {
    return this.#since;
  }

  /** The latest activity first. @throws CallgateError */
  async list(): Promise<readonly ConversationSummary[]> {
    this.#reading ??= this.#read();
    try {
      await this.#reading;
    } catch (error) {
      this.#reading = undefined;
      this.#conversations.clear();
      throw error;
    }
    return [...this.#conversations.values()].map(({ summary }) => summary).sort(compareActivity);
  }

  async #read(): Promise<void> {
    await this.#tail.follow();
    const { partitions } = this.#tail;
    const recordsMax = Math.ceil(RECORDS_MAX / partitions);
    for (let partition = 0; partition < partitions; partition += 1) {
      const start = await this.#tail.startOffset(partition);
      const offset = Math.max(start, (await this.#tail.endOffset(partition)) - recordsMax);
      let isFirst = offset > 0;
      await readOn(this.#tail, { partition, offset }, (records) => {
        const [first] = records;
        if (isFirst && first !== undefined) this.#leftOut(first.appendTimeMs);
        isFirst &&= first === undefined;
        this.#learn(records);
      });
    }
  }

  #leftOut(untilMs: number): void {
    this.#since = Math.max(this.#since ?? 0, untilMs);
  }

  #learn(records: readonly CommittedRecord[]): void {
    for (const { record } of records) {
      const isFresh = record.events.some((one) => "conversation" in one && one.conversation.fresh);
      for (const event of shownEvents(record)) this.#add(event, isFresh);
    }
  }

  #add(event: ShownEvent, isFresh: boolean): void {
    const key = conversationKey(event.tenantId, event.conversationId);
    const before = isFresh && "policyRevision" in event ? undefined : this.#conversations.get(key);
    this.#conversations.delete(key);
    this.#conversations.set(key, after(before ?? none(event), event));
    if (this.#conversations.size <= CONVERSATIONS_MAX) return;
    for (const [oldest, { summary }] of this.#conversations) {
      this.#conversations.delete(oldest);
      this.#leftOut(summary.lastActivityAt);
      return;
    }
  }
}

/** The latest activity first. */
export function compareActivity(a: ActivityPoint, b: ActivityPoint): number {
  return b.lastActivityAt - a.lastActivityAt || compareText(nameOf(a), nameOf(b));
}

export type ActivityPoint = Pick<
  ConversationSummary,
  "tenantId" | "conversationId" | "lastActivityAt"
>;

function nameOf({ tenantId, conversationId }: ActivityPoint): string {
  return conversationKey(tenantId, conversationId);
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

type ResultCounts = ConversationSummary["results"];

/** A summary, with the calls whose end a later report or a person may still settle. */
type Counted = {
  readonly summary: ConversationSummary;
  /** The status that is counted, by decision id. */
  readonly unsettled: Map<string, keyof ResultCounts>;
};

function none({ tenantId, conversationId, at }: ShownEvent): Counted {
  const calls = { allowed: 0, refused: 0, held: 0 };
  const results = { succeeded: 0, failed: 0, not_executed: 0, unknown: 0 };
  const times = { startedAt: at, lastActivityAt: at };
  const summary = { tenantId, conversationId, ...times, ended: false, calls, results };
  return { summary, unsettled: new Map() };
}

function after({ summary: before, unsettled }: Counted, event: ShownEvent): Counted {
  const summary = { ...before, lastActivityAt: Math.max(before.lastActivityAt, event.at) };
  switch (event.type) {
    case "allowed":
    case "refused":
    case "held":
      return { unsettled, summary: { ...summary, calls: withDecision(before.calls, event) } };
    case "result":
    case "reconciled":
      return {
        unsettled,
        summary: { ...summary, results: withEnd(before.results, unsettled, event) },
      };
    case "conversation_ended":
      return { unsettled, summary: { ...summary, ended: true } };
    case "conversation_resumed":
      return { unsettled, summary: { ...summary, ended: false } };
    case "verdict":
      return { unsettled, summary };
  }
}

type CallCounts = ConversationSummary["calls"];

function withDecision(counts: CallCounts, { type, endedApprovalId }: ShownDecision): CallCounts {
  // The hold may have begun before the first record that was read.
  const held = endedApprovalId === null ? counts.held : Math.max(0, counts.held - 1);
  const waiting = { ...counts, held };
  return { ...waiting, [type]: waiting[type] + 1 };
}

/** A later report replaces the one that is counted. */
function withEnd(
  counts: ResultCounts,
  unsettled: Map<string, keyof ResultCounts>,
  event: ShownResult | ShownReconciled,
): ResultCounts {
  const { decisionId, status } = event;
  if (status === "started") return counts;
  const earlier = unsettled.get(decisionId);
  const others = earlier === undefined ? counts : { ...counts, [earlier]: counts[earlier] - 1 };
  unsettled.delete(decisionId);
  const isSettled = status !== "unknown" && !("effect" in event && event.effect === "possible");
  if (!isSettled && unsettled.size < UNSETTLED_MAX) unsettled.set(decisionId, status);
  return { ...others, [status]: others[status] + 1 };
}
