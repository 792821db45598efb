import { afterEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../../../services/adapters/system/clock.ts";
import { JournalFollower } from "../../../../services/client/journal/follow-journal.ts";
import {
  readJournalRecord,
  searchJournal,
  searchPartition,
} from "../../../../services/client/journal/search-journal.ts";
import { FatalError, StateCorruptError } from "../../../../services/runtime/errors.ts";
import type { JournalRecord } from "../../../../services/runtime/journal.ts";
import type { Codec, Log } from "../../../../services/runtime/ports.ts";

function journalOf(read: () => Promise<unknown>) {
  const codec = { decodeJournal: () => ({ seq: 9 }) } as unknown as Codec;
  return { log: { read } as unknown as Log, codec };
}

const POSITION = { partition: 0, offset: 8 };
const record = (offset: number) => ({ offset, value: Buffer.from("record") });

describe("the journal record at a position", () => {
  test("is decoded if it exists", async () => {
    const journal = journalOf(async () => ({ records: [record(8)] }));
    expect(await readJournalRecord(journal, POSITION)).toEqual({ seq: 9 });
  });

  test("is undefined if retention has deleted it", async () => {
    const gone = new FatalError("input_out_of_reach", "offset 8 is gone");
    expect(
      await readJournalRecord(
        journalOf(() => Promise.reject(gone)),
        POSITION,
      ),
    ).toBeUndefined();
    const later = journalOf(async () => ({ records: [record(9)] }));
    expect(await readJournalRecord(later, POSITION)).toBeUndefined();
  });

  test("is an error if the log cannot be read", async () => {
    const closed = new FatalError("closed", "the log is closed");
    const journal = journalOf(() => Promise.reject(closed));
    await expect(readJournalRecord(journal, POSITION)).rejects.toBe(closed);
  });
});

function unreadable(): never {
  throw new StateCorruptError("the record is no journal record");
}

test("reports an unreadable record with its position to every reader", async () => {
  const { journal } = new NumberedJournal(3, unreadable);
  const search = { find: () => undefined, assertWanted: () => undefined };
  const message = "the record is no journal record (partition 0, offset 2)";
  const position = { partition: 0, offset: 2 };
  await expect(readJournalRecord(journal, position)).rejects.toThrow(message);
  await expect(searchJournal(journal, search)).rejects.toThrow(message);
  await expect(untilLost(journal)).resolves.toMatchObject({ message: message });
});

/** The error with which a follower of the last record ends. */
function untilLost({ log, codec }: NumberedJournal["journal"]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const following = { ...log, endOffset: async () => 2 } as Log;
    const failOnRead = () => reject(new Error("it was read"));
    const clock = systemClock;
    const follower = new JournalFollower({
      log: following,
      codec,
      clock,
      notify: failOnRead,
      lost: resolve,
    });
    follower.follow(0).catch(reject);
  });
}

/** A journal of that many records, each its own sequence number; `startOffset` may move. */
class NumberedJournal {
  startOffset = 0;
  readonly #end: number;
  /** Called for each decoded record. */
  readonly #onDecoded: () => void;

  constructor(end: number, onDecoded: () => void = () => undefined) {
    this.#end = end;
    this.#onDecoded = onDecoded;
  }

  get journal() {
    const log: Partial<Log> = {
      partitions: 1,
      startOffset: async () => this.startOffset,
      endOffset: async () => this.#end,
      read: async (_topic, _partition, from, { recordsMax }) => this.#read(from, recordsMax),
    };
    const decodeJournal = (value: Uint8Array) => {
      this.#onDecoded();
      return { seq: Number(value) };
    };
    return { log: log as Log, codec: { decodeJournal } as unknown as Codec };
  }

  #read(from: number, most: number) {
    if (from < this.startOffset) throw new FatalError("input_out_of_reach", "it is gone");
    const count = Math.min(most, this.#end - from);
    const records = Array.from({ length: count }, (_, at) => ({
      ...{ offset: from + at, appendTimeMs: 1, key: null, headers: [] },
      value: Buffer.from(String(from + at)),
    }));
    return { records, nextOffset: from + count, endOffset: this.#end };
  }
}

const wanted = { assertWanted: () => undefined };
const seq = (wantedSeq: number) => ({
  ...wanted,
  find: (one: JournalRecord) => (one.seq === wantedSeq ? one.seq : undefined),
});

describe("a search of the journal", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test("finds the newest match, and says from where on it did not look", async () => {
    const { journal } = new NumberedJournal(2_500);
    const since = { partition: 0, offset: 2_500 };
    expect(await searchJournal(journal, seq(3))).toEqual({ match: 3, since });
    const newest = { ...wanted, find: ({ seq: match }: JournalRecord) => match };
    expect(await searchJournal(journal, newest)).toEqual({ match: 2_499, since });
    expect(await searchJournal(journal, seq(9_999))).toBeUndefined();
    const late = { partition: 0, offset: 2_000 };
    expect(await searchPartition(journal, late, seq(3))).toEqual({ match: undefined, since });
  });

  test("yields to the event loop, even with several searches at once", async () => {
    const startMs = performance.now() + 1_000;
    let nowMs = startMs;
    vi.spyOn(performance, "now").mockImplementation(() => nowMs);
    const { journal } = new NumberedJournal(400, () => {
      nowMs += 1;
    });
    let longestMs = 0;
    let turnMs = startMs;
    let isOver = false;
    const turn = (): void => {
      longestMs = Math.max(longestMs, nowMs - turnMs);
      turnMs = nowMs;
      if (!isOver) setImmediate(turn);
    };
    turn();
    const searches = [1, 2, 3].map((one) => searchJournal(journal, seq(one)));
    const match = await Promise.all(searches);
    isOver = true;
    turn();
    expect(match.map((one) => one?.match)).toEqual([1, 2, 3]);
    expect(nowMs - startMs).toBeGreaterThan(1_000);
    expect(longestMs).toBeLessThanOrEqual(20);
  });

  test("ends if nobody wants it any more", async () => {
    let decoded = 0;
    const { journal } = new NumberedJournal(3_000, () => {
      decoded += 1;
    });
    const assertWanted = (): void => {
      if (decoded >= 10) throw new Error("nobody waits");
    };
    await expect(searchJournal(journal, { ...seq(1), assertWanted })).rejects.toThrow("nobody");
    expect(decoded).toBe(10);
  });

  test("continues if retention deletes the oldest records meanwhile", async () => {
    const numbered = new NumberedJournal(5_000, () => {
      numbered.startOffset = 2_345;
    });
    expect(await searchJournal(numbered.journal, seq(2_345))).toMatchObject({ match: 2_345 });
    numbered.startOffset = 0;
    expect(await searchJournal(numbered.journal, seq(3))).toBeUndefined();
  });
});
