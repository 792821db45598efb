// The contract of state stores: one suite, run on each implementation.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CheckpointBlob, CheckpointHeader } from "../../../services/runtime/ports.ts";
import { exchangeHash, NO_SUM } from "../../../services/runtime/state-hash.ts";
import type { StateStore } from "../../../services/runtime/state-store.ts";

export type StatesUnderTest = {
  readonly store: StateStore;
  /** The same store, opened again; absent: nothing outlives it. */
  readonly reopen?: () => Promise<StateStore>;
  close(): Promise<void>;
};

const POSITION = { proposals: 1, results: 2, verdicts: 3 };
const DROP_AT_MS = 1_700_000_000_000;
const NOTHING = { puts: [], removals: [], header: null };

function header(seq: number): CheckpointHeader {
  return {
    clusterId: "cluster",
    topicId: "topic",
    schemaVersion: 1,
    journalOffset: seq + 10,
    seq,
    chainHead: "ab".repeat(32),
    next: POSITION,
    ahead: { proposals: [[4, 6]], results: [], verdicts: [] },
    clocks: POSITION,
    latestMs: 7,
    journalTimeMs: 8,
    anchor: { secrets: [], lostKeyIds: ["k"], atMs: 7 },
  };
}

function hashOf(seq: number): string {
  return seq.toString(16).padStart(2, "0").repeat(32);
}

function blob(key: string, seq: number, size = 40, deadlineMs = Number.NaN): CheckpointBlob {
  const bytes = Buffer.alloc(16 + size, seq);
  bytes.writeDoubleBE(deadlineMs, 0);
  bytes.writeDoubleBE(DROP_AT_MS + seq, 8);
  return { key, seq, hash: hashOf(seq), digest: String(seq).padStart(64, "0"), bytes };
}

function sumOf(...seqs: readonly number[]) {
  return seqs.reduce((sum, seq) => exchangeHash(sum, "", hashOf(seq)), NO_SUM);
}

function plain(one: CheckpointBlob | undefined) {
  return one === undefined ? undefined : { ...one, bytes: Buffer.from(one.bytes).toString("hex") };
}

export function describeStateContract(name: string, open: () => Promise<StatesUnderTest>): void {
  describe(`a state store: ${name}`, () => {
    let opened: StatesUnderTest;
    let store: StateStore;
    beforeEach(async () => {
      opened = await open();
      store = opened.store;
    });
    afterEach(() => opened.close());

    it("is empty at first", () => {
      expect(store.look(0)).toEqual({ summary: null, problem: null });
      expect(store.get(0, "t/a")).toBeUndefined();
      expect([...store.entries(0)]).toEqual([]);
    });

    it("has conversations whose ids are as long as ids may be", async () => {
      const [tenant, other] = ["t".repeat(256), `${"t".repeat(255)}u`];
      const keys = [`${tenant}/${"ü".repeat(128)}`, `${other}/${"ü".repeat(128)}`, "t/a"];
      const puts = keys.map((key, at) => blob(key, at + 1));
      await store.write(0, { puts, removals: [], header: header(3) });
      for (const one of puts) expect(plain(store.get(0, one.key))).toEqual(plain(one));
      expect(new Set([...store.entries(0)].map(({ key }) => key))).toEqual(new Set(keys));
      await store.write(0, { puts: [], removals: keys.slice(0, 1), header: header(3) });
      expect(store.look(0).summary?.count).toBe(2);
      expect([...store.entries(0)]).toHaveLength(2);
    });

    it("returns what was written last, whatever its size, and its totals", async () => {
      const long = blob("t/ünï", 5, 300_000, 12_345);
      await store.write(0, { puts: [blob("t/a", 3), long], removals: [], header: header(5) });
      await store.write(0, { puts: [blob("t/a", 6)], removals: [], header: header(6) });
      expect(plain(store.get(0, "t/a"))).toEqual(plain(blob("t/a", 6)));
      expect(plain(store.get(0, "t/ünï"))).toEqual(plain(long));
      const summary = { header: header(6), count: 2, stateSum: sumOf(5, 6) };
      expect(store.look(0)).toEqual({ summary, problem: null });
      expect([...store.entries(0)].sort((a, b) => a.seq - b.seq)).toEqual([
        { key: "t/ünï", seq: 5, deadlineMs: 12_345, dropAtMs: DROP_AT_MS + 5 },
        { key: "t/a", seq: 6, deadlineMs: undefined, dropAtMs: DROP_AT_MS + 6 },
      ]);
      expect(store.bytes).toBeGreaterThan(0);
    });

    it("takes fewer bytes once conversations are removed", async () => {
      const keys = Array.from({ length: 50 }, (_, n) => `t/${n}`);
      await store.write(0, { ...NOTHING, puts: keys.map((key) => blob(key, 3, 20_000)) });
      const full = store.bytes;
      await store.write(0, { ...NOTHING, removals: keys.slice(5) });
      expect(store.bytes).toBeLessThan(full / 2);
    });

    it("leaves its position where a step of a save has none", async () => {
      await store.write(0, { puts: [blob("t/a", 3)], removals: [], header: header(3) });
      await store.write(0, { puts: [blob("t/b", 7)], removals: [], header: null });
      const summary = { header: header(3), count: 2, stateSum: sumOf(3, 7) };
      expect(store.look(0)).toEqual({ summary, problem: null });
    });

    it("has no position before a save has ended", async () => {
      await store.write(0, { ...NOTHING, puts: [blob("t/a", 3)] });
      expect(store.look(0).summary).toBeNull();
      expect(store.look(0).problem).toEqual(expect.any(String));
    });

    it("removes conversations, and takes them out of its totals", async () => {
      await store.write(0, {
        puts: [blob("t/a", 3), blob("t/b", 4)],
        removals: [],
        header: header(4),
      });
      await store.write(0, { puts: [], removals: ["t/a", "t/never"], header: header(5) });
      expect(store.get(0, "t/a")).toBeUndefined();
      const summary = { header: header(5), count: 1, stateSum: sumOf(4) };
      expect(store.look(0)).toEqual({ summary, problem: null });
    });

    it("separates partitions, and clears one alone", async () => {
      await store.write(0, { puts: [blob("t/a", 3)], removals: [], header: header(3) });
      await store.write(1, { puts: [blob("t/a", 9)], removals: [], header: header(9) });
      await store.clear(0);
      expect(store.look(0)).toEqual({ summary: null, problem: null });
      expect([...store.entries(0)]).toEqual([]);
      expect(store.get(1, "t/a")?.seq).toBe(9);
      await store.write(0, { puts: [blob("t/b", 1)], removals: [], header: header(1) });
      expect(store.look(0).summary?.count).toBe(1);
    });

    it("is what it was after it was opened again", async ({ skip }) => {
      if (opened.reopen === undefined) return skip("nothing outlives it");
      const puts = Array.from({ length: 500 }, (_, at) => blob(`t/${at}`, at + 1, 2_000));
      await store.write(3, { puts, removals: [], header: header(500) });
      store = await opened.reopen();
      expect(store.look(3).summary?.count).toBe(500);
      expect([...store.entries(3)]).toHaveLength(500);
      expect(plain(store.get(3, "t/77"))).toEqual(plain(puts[77]));
    });
  });
}
