/** Calls by their ids: recent ones from memory, all others from the journal. */
import type { DecisionEvent } from "../../core/events.ts";
import type { CommittedRecord, JournalRecord } from "../../runtime/journal.ts";
import { asCallgateError, CallgateError } from "../api/callgate-error.ts";
import type { StoredResult } from "../api/gate-types.ts";
import type { GateLink } from "../gate-link.ts";
import { type CallSearch, findCall, findHold, findResult } from "./find-call.ts";
import type { JournalWait } from "./journal-waits.ts";
import {
  type CallStart,
  isDecision,
  type JournaledCall,
  RecentCalls,
  readStart,
} from "./recent-calls.ts";
import type { JournalPosition } from "./search-journal.ts";
import { readJournalRecord, searchPartition } from "./search-journal.ts";
import { type EndedCall, endedCallOf, resultOf } from "./stored-result.ts";

/** The request for which the journal is read, with its time limit. */
type Wait = Pick<JournalWait<unknown>, "search">;

export class JournalCalls {
  readonly #link: GateLink;
  readonly #recentCalls = new RecentCalls();
  /** Offset of the first record of each partition that the gate has delivered. */
  readonly #firstOffsets = new Map<number, number>();
  #closed: CallgateError | undefined;

  constructor(link: GateLink) {
    this.#link = link;
  }

  /** Call it with everything that the gate commits. */
  committed(records: readonly CommittedRecord[], partition: number): void {
    const first = records[0];
    if (first !== undefined && !this.#firstOffsets.has(partition))
      this.#firstOffsets.set(partition, first.offset);
    this.#recentCalls.committed(records, partition);
  }

  /**
   * Whether the position lies before the first record that the gate delivered in this partition.
   */
  isBeforeOpening({ partition, offset }: JournalPosition): boolean {
    return offset < (this.#firstOffsets.get(partition) ?? Number.POSITIVE_INFINITY);
  }

  /**
   * Stops all reading: pending and later requests, including running searches, fail with the error.
   */
  close(error: CallgateError): void {
    this.#closed = error;
  }

  /** From memory alone. */
  findRecent(decisionId: string): JournaledCall | undefined {
    return this.#recentCalls.get(decisionId);
  }

  /** Undefined if there is no decision with this id. */
  async get(decisionId: string, wait: Wait): Promise<JournaledCall | undefined> {
    const recentCall = this.#recentCalls.get(decisionId);
    if (recentCall !== undefined) return recentCall;
    const match = await this.#readFor(wait, (search) => findCall(this.#link, decisionId, search));
    // A decision made during the search is in memory by now, and newer.
    return this.#recentCalls.get(decisionId) ?? match;
  }

  /** The call, with what was delivered about it in the meantime. */
  latest(call: JournaledCall): JournaledCall {
    return this.#recentCalls.get(call.decisionId) ?? call;
  }

  /**
   * The call that waits under the approval id; if memory has none, the one that waited under it.
   */
  async held(approvalId: string, wait: Wait): Promise<JournaledCall | undefined> {
    const recentCall = this.#recentCalls.held(approvalId);
    if (recentCall !== undefined) return recentCall;
    const match = await this.#readFor(wait, (search) => findHold(this.#link, approvalId, search));
    return this.#recentCalls.held(approvalId) ?? match;
  }

  async decisionOf(
    { decisionId, position }: JournaledCall,
    wait: Wait,
  ): Promise<DecisionEvent | undefined> {
    const record = await this.#readFor(wait, () => readJournalRecord(this.#link, position));
    const event = record?.events.find((one) => isDecision(one) && one.decisionId === decisionId);
    return isDecision(event) ? event : undefined;
  }

  /** How the call ended; undefined if the journal does not say. */
  endOf({ decisionId, end, since }: JournaledCall, wait: Wait): Promise<EndedCall | undefined> {
    const find = (record: JournalRecord): EndedCall | undefined => endedCallOf(record, decisionId);
    return this.#readFor(wait, async ({ assertWanted }) => {
      const newer = since && (await searchPartition(this.#link, since, { find, assertWanted }));
      if (newer?.match !== undefined) return newer.match;
      const record = end === null ? undefined : await readJournalRecord(this.#link, end);
      return record === undefined ? undefined : find(record);
    });
  }

  /** Who began the call; null if the journal names nobody. */
  async startOf(call: JournaledCall, wait: Wait): Promise<CallStart | null> {
    const { decisionId, since, start } = this.latest(call);
    if (since === null) return start;
    const find = (record: JournalRecord, position: JournalPosition): CallStart | undefined => {
      const begun = readStart(record, position);
      return begun?.decisionId === decisionId ? begun.start : undefined;
    };
    const newer = await this.#readFor(wait, ({ assertWanted }) =>
      searchPartition(this.#link, since, { find, assertWanted }),
    );
    return newer.match ?? start;
  }

  /** Whether the call's end is recorded. A journal that cannot be read right now counts as no. */
  async isOver(call: JournaledCall, wait: Wait): Promise<boolean> {
    const latest = this.latest(call);
    if (latest.isOver) return true;
    const ended = await this.endOf(latest, wait).catch(() => undefined);
    return ended !== undefined && ended.stored.status !== "unknown";
  }

  /** The output of an earlier call; undefined if none was reported. @throws `unknown_decision` */
  async previousResult(ref: string, wait: Wait): Promise<StoredResult | undefined> {
    const call = this.#recentCalls.get(ref);
    return this.#readFor(wait, async (search) => {
      if (call === undefined) {
        const match = await findResult(this.#link, ref, search);
        if (match === undefined) throw unknownDecision(ref);
        return match.stored;
      }
      const { result } = call;
      const record = result === null ? undefined : await readJournalRecord(this.#link, result);
      return record === undefined ? undefined : resultOf(record, ref);
    });
  }

  /** @param isOver whether nobody waits for the search any more. */
  #search(isOver: () => boolean): CallSearch {
    return {
      assertWanted: () => {
        this.#assertOpen();
        if (isOver()) throw new CallgateError("timeout", "the search was given up");
      },
      follow: (partition) => this.#link.follow(partition),
    };
  }

  #readFor<T>(wait: Wait, read: (search: CallSearch) => Promise<T>): Promise<T> {
    return wait.search((isOver) => this.#read(() => read(this.#search(isOver))));
  }

  async #read<T>(read: () => Promise<T>): Promise<T> {
    this.#assertOpen();
    try {
      return await read();
    } catch (error) {
      throw asCallgateError(error);
    }
  }

  #assertOpen(): void {
    if (this.#closed !== undefined) throw this.#closed;
  }
}

export function unknownDecision(decisionId: string): CallgateError {
  return new CallgateError(
    "unknown_decision",
    `there is no decision \`${decisionId}\` in the journal`,
  );
}
