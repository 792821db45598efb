import { describe, expect, test } from "vitest";
import { MemoryLog } from "../../../services/adapters/memory/memory-log.ts";
import { commitBatch } from "../../../services/runtime/commit-batch.ts";
import {
  ConversationBounds,
  type ConversationLimits,
} from "../../../services/runtime/conversation-bounds.ts";
import { coreFold } from "../../../services/runtime/core-engine.ts";
import type { JournalRecord } from "../../../services/runtime/journal.ts";
import { PartitionState } from "../../../services/runtime/partition-state.ts";
import { BatchBuilder, type BatchContext } from "../../../services/runtime/process-batch.ts";
import { Replay } from "../../../services/runtime/replay.ts";
import { createTestLogger, noMetrics, RuntimeKit, TestClock } from "../../support/runtime-kit.ts";
import { createEngines } from "../../support/simulation/engines.ts";
import { encodeJson, jsonCodec } from "../../support/simulation/json-codec.ts";

const kit = new RuntimeKit();
const [engine] = createEngines();
/** After this time without a call a conversation of the policy has lapsed. */
const IDLE_MS = 1_200_000;
const SECOND = 1_000;

type Wanted = {
  readonly tenantId?: string;
  readonly atMs?: number;
  readonly callId?: string;
  readonly arguments?: string;
  readonly tool?: string;
};

/** One partition with a journal, under the bounds. */
class BoundedPartition {
  readonly state = new PartitionState(coreFold);
  readonly journal: JournalRecord[] = [];
  readonly counted: string[] = [];
  readonly #log = new MemoryLog({ partitions: 1, clusterId: "c", nowMs: () => 7 });
  readonly #bounds: ConversationBounds;
  readonly #partition: number;
  #offset = 0;

  constructor(bounds: ConversationBounds, partition = 0) {
    this.#bounds = bounds;
    this.#partition = partition;
    bounds.track(partition, this.state);
  }

  begin(): BatchBuilder {
    const metrics = { ...noMetrics, count: (name: string) => void this.counted.push(name) };
    const context: BatchContext = {
      ...{ partition: 0, partitions: 1, hashEvery: 1_000, keepsRecords: true, engine },
      ...{ codec: jsonCodec, logger: createTestLogger([]), metrics },
      ...{ eventSource: null, anchor: null, bounds: this.#bounds },
    };
    return new BatchBuilder({ ...context, partition: this.#partition, partitions: 1 }, this.state);
  }

  propose(builder: BatchBuilder, conversationId: string, wanted: Wanted = {}): void {
    const { atMs = SECOND, ...overrides } = wanted;
    const proposal = kit.proposal({ tool: "read_order", conversationId, ...overrides });
    const key = Buffer.from(`${proposal.tenantId}/${conversationId}`);
    const record = { offset: this.#offset, appendTimeMs: atMs, key, headers: [] };
    builder.add({ topic: "proposals", record: { ...record, value: encodeJson(proposal) } });
    this.#offset += 1;
  }

  async commit(builder: BatchBuilder): Promise<void> {
    const batch = builder.build();
    const writer = await this.#log.takeOver(0);
    expect((await commitBatch(writer, this.state, batch)).type).toBe("committed");
    this.journal.push(...batch.journal.map(({ record }) => record));
  }

  /** The reason of each refusal, or the outcome, of one batch. */
  async decide(conversationIds: readonly string[], wanted: Wanted = {}): Promise<string[]> {
    const builder = this.begin();
    for (const id of conversationIds) this.propose(builder, id, wanted);
    const before = this.journal.length;
    await this.commit(builder);
    return this.journal.slice(before).map(outcomeOf);
  }
}

function outcomeOf({ events: [event] }: JournalRecord): string {
  return event?.type === "refused" ? event.refusal.reason : (event?.type ?? "nothing");
}

function boundsOf(limits: ConversationLimits, bytes: number | null = null): ConversationBounds {
  const stateBytes = bytes === null ? null : () => bytes;
  return new ConversationBounds({ limits, clock: new TestClock(), stateBytes });
}

describe("at the bound on conversations", () => {
  test("a new conversation is refused, and those that have begun go on", async () => {
    const partition = new BoundedPartition(boundsOf({ conversations: 2 }));
    expect(await partition.decide(["a", "b"])).toEqual(["allowed", "allowed"]);
    expect(await partition.decide(["c", "a", "b"])).toEqual(["overloaded", "allowed", "allowed"]);
    expect([...partition.state.keys()]).toEqual(["t/a", "t/b"]);
    expect(partition.journal[2]?.input).toMatchObject({
      input: {
        rejected: {
          reason: "overloaded",
          message: "the bound `limits.conversations` of the gate is reached",
        },
      },
    });
    expect(partition.counted).toEqual(["overloaded_proposals"]);
  });

  test("conversations of the same batch are counted", async () => {
    const partition = new BoundedPartition(boundsOf({ conversations: 2 }));
    expect(await partition.decide(["a", "b", "b", "c"])).toEqual([
      "allowed",
      "allowed",
      "allowed",
      "overloaded",
    ]);
  });

  test("a refused call leaves nothing, and is decided anew once there is room", async () => {
    const partition = new BoundedPartition(boundsOf({ conversations: 1 }));
    await partition.decide(["a"], { tool: "forbidden" });
    const call = { callId: "once", arguments: '{"order":1}' };
    expect(await partition.decide(["b"], call)).toEqual(["overloaded"]);
    expect(partition.state.has("t/b")).toBe(false);
    const later = { ...call, atMs: SECOND + IDLE_MS };
    expect(await partition.decide(["b"], later)).toEqual(["allowed"]);
    expect(await partition.decide(["b"], later)).toEqual(["repeated"]);
    const [refused, allowed] = partition.journal.slice(1).map(({ events }) => events[0]);
    expect(allowed?.type === "allowed" && allowed.decisionId).toBe(
      refused?.type === "refused" && refused.decisionId,
    );
  });

  test("a conversation that has lapsed makes room at once, in a record that replays alike", async () => {
    const partition = new BoundedPartition(boundsOf({ conversations: 2 }));
    // Refused calls leave no open call behind, which would keep a conversation until its tick.
    await partition.decide(["a", "b"], { tool: "forbidden" });
    expect(await partition.decide(["c"])).toEqual(["overloaded"]);
    const later = { atMs: SECOND + IDLE_MS };
    expect(await partition.decide(["c"], later)).toEqual(["allowed"]);
    expect([...partition.state.keys()]).toEqual(["t/c"]);
    expect(partition.journal.map(({ stateHash }) => stateHash !== null)).toEqual([
      false,
      false,
      false,
      true,
    ]);
    const replayed = new PartitionState(coreFold);
    const replay = new Replay(replayed, {
      ...{ startMoved: false, checkChain: false, hashesFromSeq: 0, spanMs: IDLE_MS },
    });
    const log = { offset: 0, appendTimeMs: 0, key: null, value: null, headers: [] };
    replay.apply(partition.journal.map((record) => ({ record, log })));
    expect(replay.compared).toBe(1);
    expect([...replayed.keys()]).toEqual(["t/c"]);
  });

  test("a batch ends with the record that makes room", async () => {
    const partition = new BoundedPartition(boundsOf({ conversations: 1 }));
    await partition.decide(["a"], { tool: "forbidden" });
    const builder = partition.begin();
    const limits = { inputsMax: 100, bytesMax: 1_000_000 };
    expect(builder.isFull(limits)).toBe(false);
    partition.propose(builder, "b", { atMs: SECOND + IDLE_MS });
    expect(builder.isFull(limits)).toBe(true);
  });

  test("a lapsed conversation begins afresh in its own room", async () => {
    const partition = new BoundedPartition(boundsOf({ conversations: 1 }));
    await partition.decide(["a"], { tool: "forbidden" });
    expect(await partition.decide(["a"], { atMs: SECOND + IDLE_MS })).toEqual(["allowed"]);
    expect(partition.state.size).toBe(1);
  });

  test("one that has lapsed with an open call keeps its room until the call's tick", async () => {
    const partition = new BoundedPartition(boundsOf({ conversations: 1 }));
    await partition.decide(["a"]);
    expect(await partition.decide(["b"], { atMs: SECOND + IDLE_MS })).toEqual(["overloaded"]);
    const builder = partition.begin();
    const atMs = SECOND + IDLE_MS;
    builder.add({
      topic: "verdicts",
      record: {
        offset: 0,
        appendTimeMs: atMs,
        key: null,
        value: encodeJson({ type: "tick" }),
        headers: [],
      },
    });
    await partition.commit(builder);
    expect(await partition.decide(["b"], { atMs: atMs + SECOND })).toEqual(["allowed"]);
  });

  test("a partition looks for lapsed conversations once a second", async () => {
    const partition = new BoundedPartition(boundsOf({ conversations: 1 }));
    await partition.decide(["a"], { tool: "forbidden" });
    const endMs = SECOND + IDLE_MS;
    expect(await partition.decide(["b"], { atMs: endMs - 10 })).toEqual(["overloaded"]);
    expect(await partition.decide(["b"], { atMs: endMs })).toEqual(["overloaded"]);
    expect(await partition.decide(["b"], { atMs: endMs + SECOND })).toEqual(["allowed"]);
  });

  test("an arrival that is malformed is refused for the room", async () => {
    const partition = new BoundedPartition(boundsOf({ conversations: 1 }));
    await partition.decide(["a"]);
    const builder = partition.begin();
    const rejected = { reason: "malformed", message: "no text" } as const;
    const value = encodeJson(kit.proposal({ conversationId: "b", rejected }));
    const record = { offset: 1, appendTimeMs: 1, key: Buffer.from("t/b"), value, headers: [] };
    builder.add({ topic: "proposals", record });
    await partition.commit(builder);
    expect(outcomeOf(partition.journal[1] as JournalRecord)).toBe("overloaded");
    expect(partition.state.size).toBe(1);
  });
});

describe("the bound holds", () => {
  test("for each tenant", async () => {
    const partition = new BoundedPartition(boundsOf({ conversationsPerTenant: 1 }));
    expect(await partition.decide(["a", "b"])).toEqual(["allowed", "overloaded"]);
    expect(await partition.decide(["a"], { tenantId: "u" })).toEqual(["allowed"]);
    const message = "the bound `limits.conversationsPerTenant` of the gate is reached";
    expect(partition.journal[1]?.input).toMatchObject({ input: { rejected: { message } } });
  });

  test("over all partitions, and gives back what one releases", async () => {
    const bounds = boundsOf({ conversations: 3, conversationsPerTenant: 2 });
    const [first, second] = [new BoundedPartition(bounds, 0), new BoundedPartition(bounds, 0)];
    bounds.track(1, second.state);
    await second.decide(["x", "y"]);
    expect(await first.decide(["a"])).toEqual(["overloaded"]);
    expect(await first.decide(["a", "b"], { tenantId: "u" })).toEqual(["allowed", "overloaded"]);
    bounds.release(1);
    expect(await first.decide(["a"])).toEqual(["allowed"]);
  });

  test("for the bytes of the state store", async () => {
    const full = new BoundedPartition(boundsOf({ stateBytes: 100 }, 100));
    expect(await full.decide(["a"])).toEqual(["overloaded"]);
    const room = new BoundedPartition(boundsOf({ stateBytes: 100 }, 99));
    expect(await room.decide(["a"])).toEqual(["allowed"]);
    const none = new BoundedPartition(boundsOf({ stateBytes: 100 }));
    expect(await none.decide(["a"])).toEqual(["allowed"]);
  });

  test("while a batch is being committed, whose conversations count from the first moment", async () => {
    const bounds = boundsOf({ conversations: 3 });
    const partition = new BoundedPartition(bounds);
    const builder = partition.begin();
    partition.propose(builder, "a");
    partition.propose(builder, "b");
    const { staged } = builder.build();
    bounds.track(0, staged);
    expect(bounds.count()).toEqual({ memory: 2, store: 0 });
    await partition.commit(builder);
    expect(bounds.count()).toEqual({ memory: 2, store: 0 });
    expect(staged.countOf("t")).toBe(2);
  });
});

test("the bytes of the state store are measured once a second", () => {
  const clock = new TestClock();
  let measured = 0;
  const stateBytes = (): number => {
    measured += 1;
    return 0;
  };
  const bounds = new ConversationBounds({ limits: { stateBytes: 5 }, clock, stateBytes });
  const state = new PartitionState(coreFold);
  const ask = () =>
    bounds.exceededBy({ partition: 0, tenantId: "t" }, state, { size: 0, countOf: () => 0 });
  expect([ask(), ask(), measured]).toEqual([null, null, 1]);
  clock.advance(1_000);
  ask();
  expect(measured).toBe(2);
});
