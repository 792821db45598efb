// Which conversations are in memory, and which are in the state store alone.
import { afterEach, describe, expect, it } from "vitest";
import { MemoryStateStore } from "../../../services/adapters/memory/memory-state-store.ts";
import { ColdConversations } from "../../../services/runtime/cold-conversations.ts";
import { coreFold } from "../../../services/runtime/core-engine.ts";
import { PartitionState, type StateChange } from "../../../services/runtime/partition-state.ts";
import type { CheckpointBlob } from "../../../services/runtime/ports.ts";
import { StateSaver } from "../../../services/runtime/state-saver.ts";
import type { StoreBatch } from "../../../services/runtime/state-store.ts";
import { INDEX_BYTES } from "../../../services/runtime/stored-conversation.ts";
import {
  createTestLogger,
  type LoggedLine,
  noMetrics,
  RuntimeKit,
} from "../../support/runtime-kit.ts";

const PARTITION = 0;
const CALL_BYTES = 1_700;

class Store extends MemoryStateStore {
  isFull = false;
  /** Called before each batch is written. */
  beforeWrite: (batch: StoreBatch) => void = () => undefined;
  readonly worn = new Map<string, Partial<CheckpointBlob> | null>();

  override write(partition: number, batch: StoreBatch): Promise<void> {
    if (this.isFull) return Promise.reject(new Error("no space left"));
    this.beforeWrite(batch);
    return super.write(partition, batch);
  }

  override get(partition: number, key: string): CheckpointBlob | undefined {
    const blob = super.get(partition, key);
    const worn = this.worn.get(key);
    if (worn === null) return undefined;
    return blob === undefined ? undefined : { ...blob, ...worn };
  }
}

const kits: RuntimeKit[] = [];
afterEach(async () => {
  for (const kit of kits.splice(0)) await kit.close();
});

/** The state of a real task with one call in each conversation, and what saves it. */
async function opened(
  conversations: number,
  memoryBytes: number,
  pace: { everyRecords?: number; stepBytes?: number } = {},
) {
  const kit = new RuntimeKit();
  kits.push(kit);
  const store = new Store();
  const lines: LoggedLine[] = [];
  const cold = {
    conversations: new ColdConversations(store, PARTITION, coreFold),
    memoryBytes: () => memoryBytes,
  };
  const state = new PartitionState(coreFold, cold);
  const saver = new StateSaver({
    ...{ partition: PARTITION, log: kit.log, store, clock: kit.clock, metrics: noMetrics },
    ...{ logger: createTestLogger(lines), everyRecords: 1_000_000, ...pace },
  });
  saver.begin(0);
  const task = kit.start({ checkpoints: null });
  for (let at = 0; at < conversations; at += 1) await kit.propose({ conversationId: `c${at}` });
  const records = await kit.journaled(conversations);
  await task.close();
  const before = state.progress;
  let seq = 0;
  const apply = (at: number): void => {
    const [event] = records[at]?.events ?? [];
    if (event === undefined) throw new Error("nothing was decided");
    const key = `t/c${at}`;
    seq += 1;
    const evolved = coreFold.evolve(state.conversation(key)?.state, event);
    if (evolved === undefined) throw new Error("there is no state");
    const memory = (state.conversation(key)?.memoryBytes ?? 0) + CALL_BYTES;
    const conversation = {
      ...{ state: evolved, seq, hash: "ab".repeat(32), memoryBytes: memory },
      deadlineMs: coreFold.nextDeadlineMs(evolved),
    };
    state.apply(changeOf([[key, conversation]], []));
  };
  const changeOf = (
    changed: readonly (readonly [string, NonNullable<ReturnType<typeof state.hot>>])[],
    dropped: readonly string[],
  ): StateChange => ({
    progress: { ...before, seq },
    ...{ journalOffset: seq, journalTimeMs: 1, atHashRecord: false },
    ...{ conversations: new Map(changed), dropped: new Set(dropped) },
  });
  const drop = (key: string): void => {
    seq += 1;
    state.apply(changeOf([], [key]));
  };
  return { state, saver, store, lines, apply, drop, kit };
}

describe("a partition's state with a budget", () => {
  it("lets the conversations leave that changed longest ago", async () => {
    const { state, saver, apply } = await opened(6, 6 * INDEX_BYTES + 30_000);
    for (const at of [0, 1, 2, 3, 4, 5, 0]) apply(at);
    expect(state.hotCount).toBe(6);
    await saver.finish(state);
    expect(state.size).toBe(6);
    expect(state.hot("t/c1")).toBeUndefined();
    expect(state.hot("t/c0")).toBeDefined();
    expect(state.conversation("t/c1")?.state.conversationId).toBe("c1");
  });

  it("writes those alone whose turn to leave it is, and no position, while there is a lot to do", async () => {
    const { state, saver, store, apply } = await opened(6, 6 * INDEX_BYTES + 5 * CALL_BYTES);
    for (const at of [0, 1, 2, 3, 4, 5, 0]) apply(at);
    saver.noteCommit(state);
    await saver.waitForSave();
    expect(store.get(PARTITION, "t/c1")).toBeDefined();
    expect(state.hot("t/c1")).toBeUndefined();
    expect(store.get(PARTITION, "t/c0")).toBeUndefined();
    expect(state.hot("t/c0")).toBeDefined();
    expect(store.look(PARTITION).summary).toBeNull();
  });

  it("makes room without waiting for a save of everything", async () => {
    const budget = 12 * INDEX_BYTES + 4 * CALL_BYTES;
    const { state, saver, store, apply } = await opened(12, budget, {
      ...{ everyRecords: 1, stepBytes: 1 },
    });
    for (let at = 0; at < 12; at += 1) apply(at);
    saver.noteCommit(state);
    await saver.makeRoom(state);
    expect(state.hot("t/c0")).toBeUndefined();
    expect(state.isFull).toBe(false);
    expect(store.look(PARTITION).summary).toBeNull();
    await saver.waitForSave();
    expect(store.look(PARTITION).summary).toMatchObject({ count: 12, header: { seq: 12 } });
  });

  it.each([
    ["a later step", false],
    ["the last", true],
  ])(
    "has the new version of a conversation that comes back in %s of a save",
    async (_what, last) => {
      const { state, saver, store, apply, drop } = await opened(3, 1_000_000, { stepBytes: 1 });
      for (const at of [0, 1, 2]) apply(at);
      await saver.finish(state);
      drop("t/c0");
      apply(1);
      apply(2);
      store.beforeWrite = ({ header }) => {
        if (state.has("t/c0") || (header !== null) !== last) return;
        apply(0);
      };
      await saver.finish(state);
      const first = store.get(PARTITION, "t/c0");
      expect(first?.seq ?? state.conversation("t/c0")?.seq).toBe(state.conversation("t/c0")?.seq);
      await saver.finish(state);
      expect(store.get(PARTITION, "t/c0")?.seq).toBe(state.conversation("t/c0")?.seq);
      expect(store.look(PARTITION).summary?.count).toBe(3);
    },
  );

  it("writes the rest, and the position, when nothing has been decided for a second", async () => {
    const { state, saver, store, apply, kit } = await opened(3, 1_000_000);
    for (const at of [0, 1, 2]) apply(at);
    saver.noteCommit(state);
    saver.saveIfDue(state);
    await saver.waitForSave();
    expect(store.look(PARTITION).summary).toBeNull();
    kit.clock.advance(1_000);
    saver.saveIfDue(state);
    await saver.waitForSave();
    expect(store.look(PARTITION).summary).toMatchObject({ count: 3, header: { seq: 3 } });
  });

  it("holds on to what is not saved", async () => {
    const { state, apply } = await opened(3, 0);
    for (const at of [0, 1, 2]) apply(at);
    state.evict();
    expect(state.hotCount).toBe(3);
  });

  it("keeps everything in memory, and warns once, while the store cannot be written", async () => {
    const { state, saver, store, lines, apply } = await opened(3, 0);
    store.isFull = true;
    for (const at of [0, 1, 2]) {
      apply(at);
      await saver.makeRoom(state);
    }
    expect(state.hotCount).toBe(3);
    expect(lines.filter(({ level }) => level === "warn")).toHaveLength(1);
    store.isFull = false;
    await saver.finish(state);
    expect(state.hotCount).toBe(0);
    expect(store.look(PARTITION).summary?.count).toBe(3);
  });

  it("does not find a dropped conversation, whether or not the store still has it", async () => {
    const { state, saver, store, apply, drop } = await opened(2, 0);
    apply(0);
    apply(1);
    await saver.finish(state);
    drop("t/c0");
    expect(state.conversation("t/c0")).toBeUndefined();
    expect(state.countOf("t")).toBe(1);
    expect(store.get(PARTITION, "t/c0")).toBeDefined();
    await saver.finish(state);
    expect(store.get(PARTITION, "t/c0")).toBeUndefined();
  });

  it.each([
    ["lost", null, "lost a conversation"],
    ["an older one", { seq: 0 }, "has another version of a conversation"],
    ["damaged", { bytes: new Uint8Array(40) }, "has a damaged conversation"],
  ] as const)("throws where a conversation in the store is %s", async (_what, worn, problem) => {
    const { state, saver, store, apply } = await opened(1, 0);
    apply(0);
    await saver.finish(state);
    store.worn.set("t/c0", worn);
    expect(() => state.conversation("t/c0")).toThrow(`the state store ${problem}`);
  });
});
