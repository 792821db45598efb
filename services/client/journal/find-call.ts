/** Finds calls in the journal that memory does not have (any more): all that it tells of one, in one search. */
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

/** As core/hash.ts makes them. */
const APPROVAL_ID = /^[0-9a-f]{32}$/;
/** Of a call that could not even be named, core/decide/refuse-unread.ts makes one of its own. */
const DECISION_ID = /^(?:[0-9a-f]{32}$|unread:)/;

export type CallSearch = Pick<Search<unknown>, "assertWanted"> & {
  /** Everything that is journaled in the partition from now on is told. */
  readonly follow: (partition: number) => Promise<void> | null;
};

/** With what the journal told of its end until the search ended. What can be no id is not searched for. */
export async function findCall(
  journal: Journal,
  decisionId: string,
  { assertWanted, follow }: CallSearch,
): Promise<JournaledCall | undefined> {
  if (!isOf(DECISION_ID, decisionId)) return undefined;
  const older = new Trail(decisionId);
  const first = await searchJournal(journal, { find: older.find, assertWanted });
  if (first === undefined) return undefined;
  // What came while the journal was searched: before its partition was followed, nothing of that was told.
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

/** What was reported of the call; undefined where there is neither a report nor a decision. */
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

/** Programs without types hand over anything. */
function isOf(ids: RegExp, id: unknown): boolean {
  return typeof id === "string" && ids.test(id);
}

/** What is met of a call on the way back to its newest decision. */
class Trail {
  readonly #decisionId: string;
  #news: Partial<CallNews> = {};

  constructor(decisionId: string) {
    this.#decisionId = decisionId;
  }

  /** The call, once its decision is met. */
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
    // What is newer was met before.
    if (news?.decisionId === this.#decisionId) this.#news = { ...news, ...this.#news };
  }
}
