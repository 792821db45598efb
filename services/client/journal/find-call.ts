/**
 * Finds calls in the journal that memory does not have (any more), with all their events, in one
 * search.
 */
import type { JournalRecord } from "../../runtime/journal.ts";
import type { StoredResult } from "../api/gate-types.ts";
import {
  type CallNews,
  callOfDecision,
  isDecision,
  type JournaledCall,
  readNews,
  readStart,
} from "./recent-calls.ts";
import type { JournalPosition } from "./search-journal.ts";
import { type Journal, type Search, searchJournal, searchPartition } from "./search-journal.ts";
import { resultOf } from "./stored-result.ts";

/** The form that core/hash.ts makes. */
const APPROVAL_ID = /^[0-9a-f]{32}$/;
/**
 * core/decide/refuse-unread.ts makes ids of its own for calls whose proposal could not be parsed.
 */
const DECISION_ID = /^(?:[0-9a-f]{32}$|unread:)/;

export type CallSearch = Pick<Search<unknown>, "assertWanted"> & {
  /** Starts the delivery of everything journaled in the partition from now on. */
  readonly follow: (partition: number) => Promise<void> | null;
};

/**
 * Includes every end that was delivered until the search ended. Does not search for an impossible
 * id.
 */
export async function findCall(
  journal: Journal,
  decisionId: string,
  { assertWanted, follow }: CallSearch,
): Promise<JournaledCall | undefined> {
  if (!isOf(DECISION_ID, decisionId)) return undefined;
  const older = new Trail(decisionId);
  const first = await searchJournal(journal, { find: older.find, assertWanted });
  if (first === undefined) return undefined;
  // Records that arrived during the search: before the partition was followed, none were delivered.
  await follow(first.since.partition);
  const newer = new Trail(decisionId);
  const rest = { find: newer.find, assertWanted };
  const { match, since } = await searchPartition(journal, first.since, rest);
  return { ...(match ?? newer.onto(first.match)), since };
}

/** The call as it was held under the id, whatever became of it. */
export async function findHold(
  journal: Journal,
  approvalId: string,
  { assertWanted }: CallSearch,
): Promise<JournaledCall | undefined> {
  if (!isOf(APPROVAL_ID, approvalId)) return undefined;
  const find = (record: JournalRecord, position: JournalPosition): JournaledCall | undefined => {
    const event = record.events.find((one) => one.type === "held" && one.holdId === approvalId);
    return event?.type === "held" ? callOfDecision(event, position) : undefined;
  };
  return (await searchJournal(journal, { find, assertWanted }))?.match;
}

/**
 * The reported result of the call; undefined if the journal has neither a report nor a decision.
 */
export async function findResult(
  journal: Journal,
  decisionId: string,
  { assertWanted }: CallSearch,
): Promise<{ readonly stored: StoredResult | undefined } | undefined> {
  if (!isOf(DECISION_ID, decisionId)) return undefined;
  const find = (record: JournalRecord) => {
    const stored = resultOf(record, decisionId);
    const isDecided = record.events.some((one) => isDecision(one) && one.decisionId === decisionId);
    return stored !== undefined || isDecided ? { stored } : undefined;
  };
  return (await searchJournal(journal, { find, assertWanted }))?.match;
}

/** Untyped programs may pass anything. */
function isOf(ids: RegExp, id: unknown): boolean {
  return typeof id === "string" && ids.test(id);
}

/** Collects the events of a call on the way back to its latest decision. */
class Trail {
  readonly #decisionId: string;
  #news: Partial<CallNews> = {};

  constructor(decisionId: string) {
    this.#decisionId = decisionId;
  }

  /** Returns the call once its decision is reached. */
  readonly find = (record: JournalRecord, position: JournalPosition): JournaledCall | undefined => {
    this.#meet(readStart(record, position));
    for (let at = record.events.length - 1; at >= 0; at -= 1) {
      const event = record.events[at];
      if (event === undefined) continue;
      if (!isDecision(event)) this.#meet(readNews(event, position));
      else if (event.decisionId === this.#decisionId)
        return this.onto(callOfDecision(event, position));
    }
    return undefined;
  };

  onto(call: JournaledCall): JournaledCall {
    return { ...call, ...this.#news };
  }

  #meet(news: CallNews | undefined): void {
    // The search runs backwards, so it has already passed the newer events.
    if (news?.decisionId === this.#decisionId) this.#news = { ...news, ...this.#news };
  }
}
