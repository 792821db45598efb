// The contract of checkpoint stores: one suite, run on each implementation.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { addDigests, ZERO_DIGEST } from "../../../services/runtime/digest-sum.ts";
import type {
  CheckpointBlob,
  CheckpointHeader,
  CheckpointStore,
} from "../../../services/runtime/ports.ts";

export type CheckpointsUnderTest = {
  readonly store: CheckpointStore;
  close(): Promise<void>;
};

const POSITION = { proposals: 1, results: 2, verdicts: 3 };

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

function blob(key: string, seq: number, text = `state of ${key}`): CheckpointBlob {
  const digest = String(seq).padStart(64, "0");
  return { key, seq, hash: "cd".repeat(32), digest, bytes: Buffer.from(text) };
}

export function describeCheckpointContract(
  name: string,
  open: () => Promise<CheckpointsUnderTest>,
  /** True where the store makes a large save in steps, and rests between them if it gets a pace. */
  canRest = false,
): void {
  describe(`a checkpoint store: ${name}`, () => {
    let opened: CheckpointsUnderTest;
    let store: CheckpointStore;
    beforeEach(async () => {
      opened = await open();
      store = opened.store;
    });
    afterEach(() => opened.close());

    it("is empty at first", async () => {
      expect(await store.load(0)).toEqual({ mark: null, checkpoint: null, problem: null });
    });

    it("loads what was saved, with a count and sum that it maintains itself", async () => {
      const upserts = [blob("t/a", 3), blob("t/ünï", 5, "")];
      const saved = await store.save(
        0,
        { header: header(5), replace: true, upserts, removals: [] },
        null,
      );
      const loaded = await store.load(0);
      expect(saved).toEqual({ type: "saved", mark: loaded.mark });
      expect(loaded.checkpoint?.header).toEqual(header(5));
      expect(loaded.checkpoint?.count).toBe(2);
      expect(loaded.checkpoint?.digestSum).toBe(String(8).padStart(64, "0"));
      const texts = loaded.checkpoint?.blobs.map((one) => [
        one.key,
        one.seq,
        one.hash,
        one.digest,
        text(one),
      ]);
      expect(texts?.sort()).toEqual(
        upserts.map((one) => [one.key, one.seq, one.hash, one.digest, text(one)]),
      );
      expect((await store.load(1)).checkpoint).toBeNull();
    });

    it("changes, adds and removes conversations in one step", async () => {
      const first = {
        header: header(2),
        replace: true,
        upserts: [blob("a", 1), blob("b", 2)],
        removals: [],
      };
      const { mark } = await store.save(0, first, null);
      const upserts = [blob("a", 9), blob("c", 8)];
      const second = await store.save(
        0,
        { header: header(9), replace: false, upserts, removals: ["b", "never there"] },
        mark,
      );
      expect(second.type).toBe("saved");
      expect(second.mark).not.toBe(mark);
      const { checkpoint } = await store.load(0);
      expect(checkpoint?.blobs.map(({ key, seq }) => `${key}${seq}`).sort()).toEqual(["a9", "c8"]);
      expect(checkpoint?.count).toBe(2);
      expect(checkpoint?.digestSum).toBe(
        addDigests(upserts[0]?.digest ?? "", upserts[1]?.digest ?? ""),
      );
    });

    it("drops all earlier conversations when an update replaces", async () => {
      const { mark } = await store.save(
        0,
        { header: header(2), replace: true, upserts: [blob("a", 1)], removals: [] },
        null,
      );
      await store.save(0, { header: header(1), replace: true, upserts: [], removals: [] }, mark);
      const { checkpoint } = await store.load(0);
      expect(checkpoint).toMatchObject({ count: 0, digestSum: ZERO_DIGEST, blobs: [] });
    });

    it("saves an update larger than one step, and smaller ones between the steps", async () => {
      const text = "x".repeat(300_000);
      const many = (count: number, seq: number): CheckpointBlob[] =>
        Array.from({ length: count }, (_, i) => blob(`k${i}`, seq, text));
      const whole = { header: header(1), replace: true, upserts: many(9, 1), removals: [] };
      const first = await store.save(0, whole, null);
      const more = { header: header(2), replace: false, upserts: many(5, 2), removals: ["k8"] };
      const [second, late] = await Promise.all([
        store.save(0, more, first.mark),
        store.save(0, { ...more, upserts: [] }, "another"),
      ]);
      expect([first.type, second.type, late.type]).toEqual(["saved", "saved", "stale"]);
      const { checkpoint } = await store.load(0);
      expect(checkpoint?.count).toBe(8);
      const sum = (checkpoint?.blobs ?? []).reduce(
        (s, one) => addDigests(s, one.digest),
        ZERO_DIGEST,
      );
      expect(checkpoint?.digestSum).toBe(sum);
      expect(checkpoint?.blobs.map(({ seq }) => seq).sort()).toEqual([1, 1, 1, 2, 2, 2, 2, 2]);
    });

    it("rests as the pace says, and saves the whole update also when it is hurried", async () => {
      const text = "x".repeat(30_000);
      const upserts = Array.from({ length: 40 }, (_, i) => blob(`k${i}`, 1, text));
      const rests: number[] = [];
      const pace = {
        get inHaste() {
          return rests.length >= 3;
        },
        rest: async (workedMs: number) => {
          rests.push(workedMs);
        },
      };
      const update = { header: header(1), replace: true, upserts, removals: [], pace };
      expect((await store.save(0, update, null)).type).toBe("saved");
      if (canRest) expect(rests.length).toBe(3);
      expect(rests.every((workedMs) => workedMs >= 0)).toBe(true);
      const { checkpoint } = await store.load(0);
      expect(checkpoint?.count).toBe(40);
    });

    it("refuses a save whose expected mark is stale, and changes nothing", async () => {
      const update = { header: header(2), replace: true, upserts: [blob("a", 1)], removals: [] };
      const { mark } = await store.save(0, update, null);
      const late = { header: header(1), replace: true, upserts: [], removals: [] };
      expect(await store.save(0, late, null)).toEqual({ type: "stale", mark });
      expect(await store.save(0, late, "something else")).toEqual({ type: "stale", mark });
      expect((await store.load(0)).checkpoint?.header.seq).toBe(2);
    });
  });
}

function text(blob: CheckpointBlob): string {
  return Buffer.from(blob.bytes).toString("utf8");
}
