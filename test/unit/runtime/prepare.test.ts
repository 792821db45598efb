// States that are prepared before a partition is taken over, and the checkpoints after such a
// take-over.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { coreFold } from "../../../services/runtime/core-engine.ts";
import { RetryableError } from "../../../services/runtime/errors.ts";
import type { CheckpointStore } from "../../../services/runtime/ports.ts";
import { Preparation } from "../../../services/runtime/prepare.ts";
import type { ReadContext, Start } from "../../../services/runtime/restore-context.ts";
import {
  createTestLogger,
  DAY_MS,
  noMetrics,
  RuntimeKit,
  until,
} from "../../support/runtime-kit.ts";
import { jsonCodec } from "../../support/simulation/json-codec.ts";

let kit: RuntimeKit;

beforeEach(() => {
  kit = new RuntimeKit();
});

afterEach(() => kit.close());

function contextOf(checkpoints: CheckpointStore | null): ReadContext {
  return {
    ...{ partition: 0, log: kit.log, checkpoints, states: null, codec: jsonCodec, fold: coreFold },
    ...{ clock: kit.clock, logger: createTestLogger(kit.lines), metrics: noMetrics },
    spanMs: 8 * DAY_MS,
  };
}

async function readToTheEnd(preparation: Preparation): Promise<Start | null> {
  while (await preparation.readOn());
  return preparation.start;
}

async function propose(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await kit.propose({ conversationId: `c${i}` });
}

const restored = () =>
  kit.lines.filter(({ message }) => message === "a partition was restored").at(-1)?.fields;

/** A store that counts full and incremental saves, and supports `look` as a shared store does. */
function shared(): CheckpointStore & { readonly replaced: boolean[] } {
  const replaced: boolean[] = [];
  return {
    replaced,
    load: (partition) => kit.checkpoints.load(partition),
    look: async (partition) => {
      const { mark, checkpoint } = await kit.checkpoints.load(partition);
      return { mark, header: checkpoint?.header ?? null };
    },
    save: async (partition, update, mark) => {
      const saved = await kit.checkpoints.save(partition, update, mark);
      if (saved.type === "saved") replaced.push(update.replace);
      return saved;
    },
  };
}

async function savedSeq(): Promise<number | undefined> {
  return (await kit.checkpoints.load(0)).checkpoint?.header.seq;
}

describe("a state that was prepared while another owner decided", () => {
  it("is continued from its offset once the partition is taken over", async () => {
    kit.start({ checkpoints: null });
    await propose(3);
    await kit.journaled(3);
    const preparation = await Preparation.begin(contextOf(null));
    const start = await readToTheEnd(preparation);
    expect(start?.state.progress.seq).toBe(3);
    await propose(2);
    await kit.journaled(5);
    kit.start({ checkpoints: null, context: { prepared: async () => start } });
    await propose(1);
    await kit.journaled(6);
    expect(restored()).toMatchObject({ source: "inMemory", replayed: 2 });
  });

  it("follows what the owner writes", async () => {
    kit.start({ checkpoints: null });
    const preparation = await Preparation.begin(contextOf(null));
    expect(await preparation.readOn()).toBe(false);
    await propose(2);
    await kit.journaled(2);
    expect((await readToTheEnd(preparation))?.state.progress.seq).toBe(2);
  });

  it("is dropped where it belongs to another journal, and everything is read again", async () => {
    const other = new RuntimeKit();
    other.start({ checkpoints: null });
    for (let i = 0; i < 3; i += 1) await other.propose({ conversationId: "elsewhere" });
    await other.journaled(3);
    const preparation = await Preparation.begin({ ...contextOf(null), log: other.log });
    const start = await readToTheEnd(preparation);
    await other.close();
    await propose(4);
    const first = kit.start({ checkpoints: null });
    await kit.journaled(4);
    await first.close();
    kit.start({ checkpoints: null, context: { prepared: async () => start } });
    await propose(1);
    await kit.journaled(5);
    expect(restored()).toMatchObject({ source: "journal", replayed: 4 });
  });

  it("builds on a checkpoint that the owner saved while the preparation began", async () => {
    kit.start({ options: { checkpointEvery: 1 } });
    await propose(1);
    await until(async () => (await savedSeq()) === 1);
    const load = async (partition: number) => {
      await propose(2);
      await until(async () => (await savedSeq()) === 3);
      return kit.checkpoints.load(partition);
    };
    const preparation = await Preparation.begin(contextOf({ ...shared(), load }));
    expect(preparation.start?.stored?.header).toEqual({ seq: 3 });
    expect((await readToTheEnd(preparation))?.state.progress.seq).toBe(3);
  });

  it("is not offered as a part of a journal that the store may have in full by then", async () => {
    kit.start({ checkpoints: null });
    await propose(3);
    await kit.journaled(3);
    const preparation = await Preparation.begin(contextOf(shared()));
    expect(await preparation.readOn()).toBe(true);
    expect(preparation.start).toBeNull();
    expect((await readToTheEnd(preparation))?.state.progress.seq).toBe(3);
    const alone = await Preparation.begin(contextOf(null));
    await alone.readOn();
    expect(alone.start?.state.progress.seq).toBe(3);
  });

  it("is not offered where the journal's beginning is gone", async () => {
    const first = kit.start({ checkpoints: null });
    for (let i = 0; i < 3; i += 1) {
      kit.clock.advance(9 * DAY_MS);
      await kit.propose();
      await kit.journaled(i + 1);
    }
    await first.close();
    await kit.log.applyRetention({ keepMs: 8 * DAY_MS });
    expect(await kit.log.startOffset("decisions", 0)).toBeGreaterThan(0);
    kit.clock.advance(9 * DAY_MS);
    const preparation = await Preparation.begin(contextOf(null));
    expect(await readToTheEnd(preparation)).toBeNull();
  });
});

describe("the checkpoint after such a take-over", () => {
  async function preparedOnCheckpoint(store: CheckpointStore): Promise<Start | null> {
    const options = { checkpointEvery: 2 };
    const first = kit.start({ checkpoints: store, options });
    await propose(2);
    await until(async () => (await savedSeq()) === 2);
    const start = await readToTheEnd(await Preparation.begin(contextOf(store)));
    expect(start?.stored?.header).toEqual({ seq: 2 });
    // The owner decides more calls and leaves a newer checkpoint.
    await propose(3);
    await kit.journaled(5);
    await first.close();
    expect(await savedSeq()).toBe(5);
    return start;
  }

  it("builds on what the previous owner has written meanwhile", async () => {
    const store = shared();
    const start = await preparedOnCheckpoint(store);
    const saves = store.replaced.length;
    const prepared = async (): Promise<Start | null> => start;
    const second = kit.start({
      ...{ checkpoints: store, options: { checkpointEvery: 1 } },
      context: { prepared },
    });
    await propose(1);
    await until(async () => second.status.state === "running" && (await savedSeq()) === 6);
    expect(store.replaced.slice(saves)).not.toContain(true);
    await second.close();
    kit.start({ checkpoints: store });
    await propose(1);
    await kit.journaled(7);
    expect(restored()).toMatchObject({ source: "checkpoint", replayed: 0 });
  });

  it("replaces everything where the store cannot say what it holds", async () => {
    const { look: _, ...store } = shared();
    const start = await preparedOnCheckpoint(store);
    const saves = store.replaced.length;
    kit.start({
      ...{ checkpoints: store, options: { checkpointEvery: 1 } },
      context: { prepared: async () => start },
    });
    await propose(1);
    await until(async () => {
      await propose(1);
      return ((await savedSeq()) ?? 0) > 5;
    });
    expect(store.replaced[saves]).toBe(true);
  });
});

describe("a gate that was paused after its take-over", () => {
  it("writes nothing over the checkpoint of the next owner", async () => {
    const store = shared();
    let isAway = true;
    const away = async (partition: number) => {
      if (isAway) throw new RetryableError("checkpoint_unavailable", "away");
      return store.load(partition);
    };
    const first = kit.start({
      ...{ checkpoints: { ...store, load: away }, options: { checkpointEvery: 100 } },
    });
    await propose(1);
    await kit.journaled(1);
    isAway = false;
    const second = kit.start({ checkpoints: store, options: { checkpointEvery: 1 } });
    await until(() => second.status.state === "running");
    await propose(3);
    await kit.journaled(4);
    await second.close();
    expect(await savedSeq()).toBe(4);
    await first.close();
    expect(await savedSeq()).toBe(4);
  });
});

describe("a gate whose last checkpoint comes after the next owner has looked for one", () => {
  it("does not end the checkpoints of the partition", async () => {
    const store = shared();
    let write: () => void = () => undefined;
    const isWritten = new Promise<void>((resolve) => {
      write = resolve;
    });
    const late: CheckpointStore["save"] = async (...save) => {
      await isWritten;
      return store.save(...save);
    };
    const first = kit.start({ checkpoints: { ...store, save: late } });
    await propose(1);
    await kit.journaled(1);
    const left = first.close();
    const second = kit.start({ checkpoints: store, options: { checkpointEvery: 1 } });
    await until(() => second.status.state === "running");
    write();
    await left;
    expect(await savedSeq()).toBe(1);
    await propose(3);
    await kit.journaled(4);
    await second.close();
    expect(await savedSeq()).toBe(4);
  });
});

describe("a store that did not answer when the partition was restored", () => {
  it("is written again, whatever it holds", async () => {
    const first = kit.start({ options: { checkpointEvery: 1 } });
    await propose(2);
    await kit.journaled(2);
    await first.close();
    expect(await savedSeq()).toBe(2);
    let isAway = true;
    const store = shared();
    kit.start({
      options: { checkpointEvery: 1 },
      checkpoints: {
        ...store,
        load: async (partition) => {
          if (isAway) throw new RetryableError("checkpoint_unavailable", "away");
          return store.load(partition);
        },
      },
    });
    await propose(1);
    await kit.journaled(3);
    isAway = false;
    await until(async () => {
      await propose(1);
      return ((await savedSeq()) ?? 0) > 2;
    });
    expect(kit.lines.map(({ message }) => message)).not.toContain(
      "the checkpoint store was written by another owner",
    );
  });
});

describe("a conversation of a checkpoint", () => {
  it("makes the gate read the journal where it cannot be parsed, and its call is decided", async () => {
    const first = kit.start({ options: { checkpointEvery: 1 } });
    await propose(2);
    await kit.journaled(2);
    await first.close();
    const unreadable = { ...coreFold, restore: () => JSON.parse("{") };
    kit.start({ context: { fold: unreadable } });
    await propose(1);
    const journal = await kit.journaled(3);
    expect(restored()).toMatchObject({ source: "journal", replayed: 2 });
    expect(journal[2]?.events[0]?.type).toBe("allowed");
    expect(await kit.values("deadLetters")).toEqual([]);
  });

  it("is parsed when it is first needed, and written unchanged until then", async () => {
    const first = kit.start({ options: { checkpointEvery: 1 } });
    await propose(3);
    await kit.journaled(3);
    await first.close();
    const before = (await kit.checkpoints.load(0)).checkpoint;
    const read: string[] = [];
    const counting = {
      ...coreFold,
      restore: (bytes: Uint8Array) => {
        const state = coreFold.restore(bytes);
        read.push(state.conversationId);
        return state;
      },
    };
    const second = kit.start({ context: { fold: counting } });
    await kit.propose({ conversationId: "c1" });
    await kit.journaled(4);
    await second.close();
    expect(read).toEqual(["c1"]);
    const after = (await kit.checkpoints.load(0)).checkpoint;
    const digestOf = (all: typeof after, key: string) =>
      all?.blobs.find((blob) => blob.key === key)?.digest;
    expect(after?.header.seq).toBe(4);
    expect(digestOf(after, "t/c0")).toBe(digestOf(before, "t/c0"));
    expect(digestOf(after, "t/c1")).not.toBe(digestOf(before, "t/c1"));
  });
});
