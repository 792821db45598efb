// Changes of a Redis server behind the store's back; each test has its own keys.
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkpointKey } from "../../../services/adapters/redis/redis-scope.ts";
import { addDigests, ZERO_DIGEST } from "../../../services/runtime/digest-sum.ts";
import { redisBackend } from "../../support/backends/redis-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import {
  blobAt,
  blobsAt,
  closeStores,
  heldBy,
  openStore,
  testScope,
  updateTo,
} from "../../support/redis/redis-store.ts";

const backend = await redisBackend();

describe.skipIf(!backend.available)("checkpoints on a Redis that", () => {
  let raw: Redis;
  let group: string;
  let key: string;
  const open = () => openStore(backend.url, { group }).store;

  beforeEach(() => {
    raw = new Redis(backend.url, { protocol: 2 });
    group = uniqueName("gate");
    key = checkpointKey(testScope(group), 0);
  });
  afterEach(async () => {
    closeStores();
    await raw.del(key);
    raw.disconnect();
  });

  it("was flushed: the next save is stale, the one after it starts again", async () => {
    const store = open();
    const { mark } = await store.save(0, updateTo(1, [blobAt("a", 1)], { replace: true }), null);
    await raw.del(key);
    expect(await store.save(0, updateTo(2, [blobAt("b", 2)]), mark)).toEqual({
      type: "stale",
      mark: null,
    });
    expect(await heldBy(store)).toEqual({ offset: undefined, seqs: {}, problem: null });
    const again = await store.save(0, updateTo(2, blobsAt(2, 2), { replace: true }), null);
    expect(again.type).toBe("saved");
    expect(await heldBy(store)).toMatchObject({ offset: 2, seqs: { "t/0": 2, "t/1": 2 } });
  });

  it("was flushed between two steps of a save: the save is stale", async () => {
    const store = open();
    const rest = async () => {
      await raw.del(key);
    };
    const update = updateTo(1, blobsAt(1_200, 1), {
      replace: true,
      pace: { inHaste: false, rest },
    });
    expect(await store.save(0, update, null)).toEqual({ type: "stale", mark: null });
    expect(await raw.exists(key)).toBe(0);
  });

  it("was rolled back to an older snapshot: the store removes it and goes on", async () => {
    const store = open();
    const first = await store.save(0, updateTo(1, [blobAt("a", 1)], { replace: true }), null);
    const snapshot = await raw.dumpBuffer(key);
    const second = await store.save(0, updateTo(2, [blobAt("b", 2)]), first.mark);
    await raw.restore(key, 0, snapshot ?? "", "REPLACE");
    expect(await store.save(0, updateTo(3, [blobAt("c", 3)]), second.mark)).toEqual({
      type: "stale",
      mark: null,
    });
    expect(await raw.exists(key)).toBe(0);
  });

  it("was rolled back into the middle of a save: the store removes it", async () => {
    const store = open();
    const { mark } = await store.save(0, updateTo(1, blobsAt(3, 1), { replace: true }), null);
    const snapshots: Buffer[] = [];
    const rest = async () => {
      snapshots.push((await raw.dumpBuffer(key)) ?? Buffer.alloc(0));
      const [oldest] = snapshots;
      if (snapshots.length === 2) await raw.restore(key, 0, oldest ?? "", "REPLACE");
    };
    const pace = { inHaste: false, rest };
    const saved = await store.save(0, updateTo(2, blobsAt(1_700, 2), { pace }), mark);
    expect(saved).toEqual({ type: "stale", mark: null });
    expect(await raw.exists(key)).toBe(0);
  });

  it("was rolled back before this process began: the older checkpoint is loaded", async () => {
    const before = open();
    const first = await before.save(0, updateTo(1, [blobAt("a", 1)], { replace: true }), null);
    const snapshot = await raw.dumpBuffer(key);
    await before.save(0, updateTo(2, [blobAt("b", 2)]), first.mark);
    await raw.restore(key, 0, snapshot ?? "", "REPLACE");
    const after = open();
    const { mark, checkpoint } = await after.load(0);
    expect(checkpoint?.header.journalOffset).toBe(1);
    const saved = await after.save(0, updateTo(3, [blobAt("c", 3)]), mark);
    expect(saved.type).toBe("saved");
    expect(await heldBy(after)).toMatchObject({ offset: 3, seqs: { a: 1, c: 3 } });
  });

  it("has another value under the key: the store reports and replaces it", async () => {
    await raw.set(key, "not ours");
    const store = open();
    const text = await store.load(0);
    expect(text).toEqual({
      mark: "type:string",
      checkpoint: null,
      problem: "its header cannot be read",
    });
    await raw.del(key);
    await raw.hset(key, "field", "value");
    expect(await store.save(0, updateTo(1, [], { replace: true }), text.mark)).toEqual({
      type: "stale",
      mark: "type:hash",
    });
    const hash = await store.load(0);
    expect(hash).toMatchObject({ mark: "type:hash", checkpoint: null });
    const saved = await store.save(0, updateTo(1, [blobAt("a", 1)], { replace: true }), hash.mark);
    expect(saved.type).toBe("saved");
    expect(await raw.hexists(key, "field")).toBe(0);
    expect(await heldBy(store)).toEqual({ offset: 1, seqs: { a: 1 }, problem: null });
  });

  it("lost or changed parts of the hash: count, sum and bytes show it to the caller", async () => {
    const store = open();
    await store.save(0, updateTo(1, blobsAt(3, 1), { replace: true }), null);
    await raw.hdel(key, "c:t/1");
    const { checkpoint } = await store.load(0);
    expect([checkpoint?.count, checkpoint?.blobs.length]).toEqual([3, 2]);
    await raw.hset(key, "c:t/1", "short");
    expect((await store.load(0)).problem).toBe("one of its conversations cannot be read");
    await raw.hset(key, "h", "{");
    expect((await store.load(0)).problem).toBe("its header cannot be read");
  });

  it("maintains count and sum through saves, changes and removals of many sizes", async () => {
    const store = open();
    const removals = blobsAt(1_100, 1).map((blob) => blob.key);
    const whole = await store.save(0, updateTo(1, blobsAt(2_500, 1), { replace: true }), null);
    const more = blobsAt(2_500, 0xabcdef).slice(1_100, 1_900);
    const saved = await store.save(0, updateTo(2, more, { removals }), whole.mark);
    expect(saved.type).toBe("saved");
    const { checkpoint } = await store.load(0);
    expect(checkpoint?.count).toBe(1_400);
    expect(checkpoint?.blobs.length).toBe(1_400);
    const sum = (checkpoint?.blobs ?? []).reduce((s, b) => addDigests(s, b.digest), ZERO_DIGEST);
    expect(checkpoint?.digestSum).toBe(sum);
    expect(checkpoint?.blobs.filter(({ seq }) => seq === 0xabcdef)).toHaveLength(800);
  });

  it("has the earlier header and newer blobs of a process that died in its save", async () => {
    const dying = open();
    const { mark } = await dying.save(0, updateTo(1, blobsAt(1_200, 1), { replace: true }), null);
    const pace = { inHaste: false, rest: () => Promise.reject(new Error("died here")) };
    const update = updateTo(2, blobsAt(1_200, 2), { pace });
    await expect(dying.save(0, update, mark)).rejects.toThrow("died here");
    const next = open();
    const loaded = await next.load(0);
    expect(loaded.mark).toBe(mark);
    expect(loaded.checkpoint?.header.journalOffset).toBe(1);
    expect(loaded.checkpoint?.blobs.filter(({ seq }) => seq === 2)).toHaveLength(500);
    const saved = await next.save(0, updateTo(3, blobsAt(1_200, 3)), mark);
    expect(saved.type).toBe("saved");
  });

  it("has no checkpoint while a save removes more conversations than one step takes", async () => {
    const dying = open();
    const many = blobsAt(1_200, 1);
    const { mark } = await dying.save(0, updateTo(1, many, { replace: true }), null);
    const pace = { inHaste: false, rest: () => Promise.reject(new Error("died here")) };
    const removals = many.map((blob) => blob.key);
    const update = updateTo(2, [], { removals, pace });
    await expect(dying.save(0, update, mark)).rejects.toThrow("died here");
    const next = open();
    expect(await next.load(0)).toEqual({
      mark,
      checkpoint: null,
      problem: "it was not finished",
    });
    expect((await next.save(0, updateTo(3, [], { replace: true }), mark)).type).toBe("saved");
    expect(await heldBy(next)).toEqual({ offset: 3, seqs: {}, problem: null });
  });

  it("two owners write: the fenced one writes nothing into the other's checkpoint", async () => {
    const [fenced, owner] = [open(), open()];
    const { mark } = await fenced.save(0, updateTo(1, blobsAt(900, 1), { replace: true }), null);
    let others: Promise<unknown> | undefined;
    const rest = async () => {
      others ??= owner.save(0, updateTo(5, blobsAt(900, 5)), mark);
      await others;
    };
    const pace = { inHaste: false, rest };
    const late = await fenced.save(0, updateTo(2, blobsAt(900, 2), { pace }), mark);
    const saved = await others;
    expect(saved).toMatchObject({ type: "saved" });
    expect(late).toEqual({ type: "stale", mark: (saved as { mark: string }).mark });
    const { checkpoint } = await owner.load(0);
    expect(new Set(checkpoint?.blobs.map(({ seq }) => seq))).toEqual(new Set([5]));
  });

  it("a newer owner writes: the older one does not begin a save", async () => {
    const [fenced, owner] = [open(), open()];
    const { mark } = await fenced.save(0, updateTo(1, blobsAt(900, 1), { replace: true }), null);
    const late: unknown[] = [];
    const rest = async () => {
      late.push(await fenced.save(0, updateTo(2, blobsAt(900, 2)), mark));
    };
    const pace = { inHaste: false, rest };
    const saved = await owner.save(0, updateTo(5, blobsAt(900, 5), { pace }), mark);
    expect(saved.type).toBe("saved");
    expect(late).toEqual([{ type: "stale", mark }]);
  });
});
