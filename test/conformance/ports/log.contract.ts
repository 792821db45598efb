// The contract of logs: one suite, run on each implementation.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FatalError, FencedError } from "../../../services/runtime/errors.ts";
import type { Log, LogRecord, OutgoingRecord, Ownership } from "../../../services/runtime/ports.ts";
import type { RetentionPolicy } from "../../../services/runtime/retention.ts";
import type { Topic } from "../../../services/runtime/topics.ts";

export type LogUnderTest = {
  readonly log: Log;
  readonly ownership: Ownership;
  close(): Promise<void>;
};

/** For a log with the test's clock that deletes old records itself. */
export type TimedLogUnderTest = LogUnderTest & {
  readonly log: Log & { applyRetention(policy: RetentionPolicy): Promise<void> };
  setTime(nowMs: number): void;
};

const LIMITS = { recordsMax: 10_000, bytesMax: 64 * 1024 * 1024 };
const CONSUMED = { proposals: 0, results: 0, verdicts: 0 };

function record(
  topic: Topic,
  partition: number,
  value: string | null,
  key = "t/c",
): OutgoingRecord {
  return { topic, partition, key, value: value === null ? null : Buffer.from(value) };
}

function text(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString("utf8");
}

/** Reads up to the end, since one read may return less. */
async function readAll(
  log: Log,
  topic: Topic,
  partition: number,
  from: number,
): Promise<readonly LogRecord[]> {
  const all: LogRecord[] = [];
  for (let offset = from; ; ) {
    const { records, nextOffset, endOffset } = await log.read(topic, partition, offset, LIMITS);
    all.push(...records);
    if (nextOffset >= endOffset) return all;
    offset = nextOffset;
  }
}

export function describeLogContract(name: string, open: () => Promise<LogUnderTest>): void {
  describe(`a log: ${name}`, () => {
    let subject: LogUnderTest;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    /** Reads up to an end that is requested after all expected records were appended. */
    const journal = async () => {
      await subject.log.endOffset("decisions", 0);
      return subject.log.read("decisions", 0, 0, LIMITS);
    };
    const values = async (topic: Topic, partition: number, from = 0): Promise<unknown[]> => {
      const records = await readAll(subject.log, topic, partition, from);
      return records.map(({ value }) => text(value));
    };

    it("assigns offsets without gaps in each topic-partition", async () => {
      const appended = await subject.log.append([
        record("proposals", 0, "a"),
        record("proposals", 1, "b"),
        record("proposals", 0, "c"),
        record("results", 0, "d"),
      ]);
      expect(appended.map(({ offset }) => offset)).toEqual([0, 0, 1, 0]);
      // The end may be beyond the last record, since some logs write transaction markers.
      expect(await subject.log.endOffset("proposals", 0)).toBeGreaterThanOrEqual(2);
      expect(await subject.log.startOffset("proposals", 0)).toBe(0);
      expect(await values("proposals", 0)).toEqual(["a", "c"]);
      expect(await values("proposals", 1)).toEqual(["b"]);
    });

    it("stores keys, values, nulls and headers unchanged", async () => {
      const headers = [
        { name: "traceparent", value: "00-äöü-01" },
        { name: "", value: "" },
      ];
      const bytes = new Uint8Array([0, 255, 254, 10]);
      await subject.log.append([
        { topic: "verdicts", partition: 0, key: null, value: null },
        { topic: "verdicts", partition: 0, key: bytes, value: bytes, headers },
        { topic: "verdicts", partition: 0, key: "", value: new Uint8Array() },
      ]);
      const { records } = await subject.log.read("verdicts", 0, 0, LIMITS);
      expect(records.map(({ key }) => (key === null ? null : [...key]))).toEqual([
        null,
        [0, 255, 254, 10],
        [],
      ]);
      expect(records.map(({ value }) => (value === null ? null : value.length))).toEqual([
        null,
        4,
        0,
      ]);
      expect(records.map((one) => one.headers)).toEqual([[], headers, []]);
    });

    it("returns all records to each of several concurrent readers at one offset", async () => {
      await subject.log.append([..."abcdef"].map((value) => record("proposals", 0, value)));
      const limits = { recordsMax: 2, bytesMax: 1_000 };
      const reads = Array.from({ length: 3 }, () => subject.log.read("proposals", 0, 1, limits));
      for (const { records, nextOffset } of await Promise.all(reads)) {
        expect(records.map(({ value }) => text(value))).toEqual(["b", "c"]);
        expect(nextOffset).toBe(3);
      }
    });

    it("reads from any offset within the limits, and at least one record", async () => {
      await subject.log.append([..."abcdef"].map((value) => record("proposals", 0, value)));
      await subject.log.append([..."ghi"].map((value) => record("proposals", 0, value)));
      for (let from = 0; from <= 9; from += 1) {
        expect(await values("proposals", 0, from)).toEqual([..."abcdefghi"].slice(from));
      }
      const two = await subject.log.read("proposals", 0, 5, { recordsMax: 2, bytesMax: 1_000 });
      expect(two.records.map(({ value }) => text(value))).toEqual(["f", "g"]);
      expect(two).toMatchObject({ nextOffset: 7, endOffset: 9 });
      const one = await subject.log.read("proposals", 0, 3, { recordsMax: 100, bytesMax: 1 });
      expect(one.records.map(({ value }) => text(value))).toEqual(["d"]);
      const none = await subject.log.read("proposals", 0, 9, LIMITS);
      expect(none).toEqual({ records: [], nextOffset: 9, endOffset: 9 });
    });

    it("appends many and large records at once", async () => {
      const sizes = [0, 1, 4_096, 300_000, 17, 1_000_000];
      const many = Array.from({ length: 3_000 }, (_, i) => record("allowed", 1, `v${i}`));
      const large = sizes.map((size) => record("allowed", 1, "x".repeat(size)));
      await subject.log.append([...many, ...large]);
      const records = await readAll(subject.log, "allowed", 1, 2_999);
      expect(records.map(({ value }) => value?.length)).toEqual([5, ...sizes]);
    });

    it("commits to many topics at once and returns the offsets", async () => {
      const writer = await subject.ownership.takeOver(0);
      await subject.log.append([record("decisions", 0, "before")]);
      const consumed = { proposals: 4, results: 5, verdicts: 6 };
      const outcome = await writer.commit({
        records: [
          record("decisions", 0, "d"),
          record("allowed", 0, "a"),
          record("decisions", 0, "e"),
        ],
        consumed,
      });
      if (outcome.type !== "committed") throw outcome.error;
      expect(outcome.appended.map(({ offset }) => offset)).toEqual([1, 0, 2]);
      const { records } = await journal();
      const times = records.map(({ appendTimeMs }) => appendTimeMs);
      expect(times).toEqual([...times].sort((one, other) => one - other));
      expect(outcome.appended[2]?.appendTimeMs).toBe(times[2]);
      expect(await values("decisions", 0)).toEqual(["before", "d", "e"]);
      await subject.log.endOffset("allowed", 0);
      expect(await values("allowed", 0)).toEqual(["a"]);
      expect(await writer.recordedOffsets()).toEqual(consumed);
    });

    it("fences the previous owner, which then writes nothing", async () => {
      const first = await subject.ownership.takeOver(0);
      const other = await subject.ownership.takeOver(1);
      const second = await subject.ownership.takeOver(0);
      const batch = { records: [record("decisions", 0, "stale")], consumed: CONSUMED };
      await expect(first.commit(batch)).rejects.toThrow(FencedError);
      expect(await values("decisions", 0)).toEqual([]);
      expect((await other.commit({ ...batch, records: [] })).type).toBe("committed");
      expect((await second.commit(batch)).type).toBe("committed");
    });

    it("fences a commit that was in flight when the partition was taken over", async () => {
      const first = await subject.ownership.takeOver(0);
      const batch = { records: [record("decisions", 0, "racing")], consumed: CONSUMED };
      const racing = first.commit(batch).then(
        (outcome) => outcome.type,
        (error: unknown) => (error instanceof FencedError ? "fenced" : error),
      );
      await subject.ownership.takeOver(0);
      const end = await subject.log.endOffset("decisions", 0);
      const seen = await values("decisions", 0);
      const outcome = await racing;
      // An unknown outcome is allowed as well: its writer takes over again, or is fenced.
      if (seen.length === 0) expect(["fenced", "unknown"]).toContain(outcome);
      else expect([outcome, seen]).toEqual(["committed", ["racing"]]);
      const later = first.commit(batch).then(
        ({ type }) => type,
        () => "fenced",
      );
      expect(["fenced", "failed"]).toContain(await later);
      expect(await subject.log.endOffset("decisions", 0)).toBe(end);
    });

    it("wakes a waiting reader for a record of any writer", async () => {
      const waiting = subject.log.waitForNew(
        [
          { topic: "results", partition: 0, offset: 0 },
          { topic: "verdicts", partition: 1, offset: 0 },
        ],
        60_000,
      );
      await subject.log.append([record("verdicts", 1, "v")]);
      await waiting;
      await subject.log.waitForNew([{ topic: "verdicts", partition: 1, offset: 0 }], 60_000);
    });

    it("ends a wait after its time-out or when its signal aborts", async () => {
      const position = [{ topic: "results", partition: 0, offset: 0 }] as const;
      await subject.log.waitForNew(position, 5);
      const abort = new AbortController();
      const waiting = subject.log.waitForNew(position, 60_000, abort.signal);
      abort.abort();
      await waiting;
      await subject.log.waitForNew(position, 60_000, abort.signal);
    });

    it("refuses a record for a missing partition, and accepts other appends", async () => {
      const good = subject.log.append([record("proposals", 0, "good")]);
      const bad = subject.log.append([record("proposals", 99, "bad")]);
      await expect(bad).rejects.toThrow(FatalError);
      await good;
      expect(await values("proposals", 0)).toEqual(["good"]);
      await expect(subject.log.endOffset("proposals", -1)).rejects.toThrow(FatalError);
    });

    it("refuses every call after it is closed", async () => {
      await subject.close();
      await expect(subject.log.append([record("proposals", 0, "a")])).rejects.toThrow(FatalError);
      await expect(subject.log.read("proposals", 0, 0, LIMITS)).rejects.toThrow(FatalError);
    });
  });
}

/** The contract of logs that have a clock and delete old records themselves. */
export function describeTimedLogContract(
  name: string,
  open: () => Promise<TimedLogUnderTest>,
): void {
  describe(`a log with its own retention: ${name}`, () => {
    let subject: TimedLogUnderTest;
    beforeEach(async () => {
      subject = await open();
      subject.setTime(1_000);
    });
    afterEach(() => subject.close());

    const values = async (topic: Topic, partition: number, from = 0): Promise<unknown[]> => {
      const records = await readAll(subject.log, topic, partition, from);
      return records.map(({ value }) => text(value));
    };

    it("assigns append times that never go back in a topic-partition", async () => {
      await subject.log.append([record("proposals", 0, "a")]);
      subject.setTime(500);
      await subject.log.append([record("proposals", 0, "b"), record("results", 0, "r")]);
      subject.setTime(2_000);
      await subject.log.append([record("proposals", 0, "c")]);
      const { records } = await subject.log.read("proposals", 0, 0, LIMITS);
      expect(records.map(({ appendTimeMs }) => appendTimeMs)).toEqual([1_000, 1_000, 2_000]);
      const results = await subject.log.read("results", 0, 0, LIMITS);
      expect(results.records[0]?.appendTimeMs).toBe(500);
    });

    it("deletes old records, but no unread input", async () => {
      const writer = await subject.ownership.takeOver(0);
      for (const value of ["a", "b", "c"])
        await subject.log.append([record("proposals", 0, value)]);
      await writer.commit({ records: [], consumed: { ...CONSUMED, proposals: 2 } });
      subject.setTime(1_000_000);
      await subject.log.applyRetention({ keepMs: 1_000 });
      expect(await subject.log.startOffset("proposals", 0)).toBe(2);
      expect(await values("proposals", 0, 2)).toEqual(["c"]);
      await expect(subject.log.read("proposals", 0, 1, LIMITS)).rejects.toThrow(FatalError);
      const [appended] = await subject.log.append([record("proposals", 0, "d")]);
      expect(appended?.offset).toBe(3);
    });

    it("retains the journal's last record, also beyond its retention time", async () => {
      for (const at of [1_000, 2_000, 3_000, 9_000]) {
        subject.setTime(at);
        await subject.log.append([record("decisions", 0, `at ${at}`)]);
      }
      subject.setTime(10_000);
      await subject.log.applyRetention({ keepMs: 7_500 });
      expect(await values("decisions", 0, 1)).toEqual(["at 2000", "at 3000", "at 9000"]);
      subject.setTime(1_000_000);
      await subject.log.applyRetention({ keepMs: 7_500, bytesMax: 0 });
      expect(await subject.log.startOffset("decisions", 0)).toBe(3);
      expect(await subject.log.endOffset("decisions", 0)).toBe(4);
    });
  });
}
