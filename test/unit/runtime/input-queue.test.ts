import { beforeEach, describe, expect, it } from "vitest";
import { MemoryLog } from "../../../services/adapters/memory/memory-log.ts";
import { InputQueue } from "../../../services/runtime/input-queue.ts";
import type { InputTopic } from "../../../services/runtime/topics.ts";

const LIMITS = { recordsMax: 3, bytesMax: 1_000 };

describe("the inputs of a partition", () => {
  let nowMs = 0;
  let log: MemoryLog;
  let queue: InputQueue;

  beforeEach(() => {
    nowMs = 0;
    log = new MemoryLog({ partitions: 1, clusterId: "c", nowMs: () => nowMs });
    queue = new InputQueue(log, 0, LIMITS);
  });

  async function append(atMs: number, topic: InputTopic, count = 1): Promise<void> {
    nowMs = atMs;
    const record = { topic, partition: 0, key: "k", value: Buffer.from("v") };
    await log.append(new Array(count).fill(record));
  }

  /** Takes all inputs, and reads on when the queue needs it. */
  async function takeAll(): Promise<readonly string[]> {
    const taken: string[] = [];
    for (let reads = 0; reads < 20; reads += 1) {
      await queue.fill();
      for (let input = queue.peek(); input !== undefined; input = queue.peek()) {
        taken.push(`${input.topic}/${input.record.offset}`);
        queue.take(input);
      }
    }
    return taken;
  }

  it("come by append time, results and verdicts before proposals of the same time", async () => {
    await append(5, "proposals");
    await append(5, "results");
    await append(5, "verdicts");
    await append(7, "proposals");
    await append(6, "results");
    expect(await takeAll()).toEqual([
      "results/0",
      "verdicts/0",
      "proposals/0",
      "results/1",
      "proposals/1",
    ]);
    expect(queue.size).toBe(0);
  });

  it("wait where a topic may still have an older record than the ones that were read", async () => {
    await append(1, "proposals", 3);
    await append(2, "proposals", 4);
    await append(3, "results", 2);
    await queue.fill();
    const taken = [];
    for (let input = queue.peek(); input !== undefined; input = queue.peek()) {
      taken.push(input.record.appendTimeMs);
      queue.take(input);
    }
    expect(taken).toEqual([1, 1, 1]);
    expect(await takeAll()).toEqual([
      "proposals/3",
      "proposals/4",
      "proposals/5",
      "proposals/6",
      "results/0",
      "results/1",
    ]);
  });

  it("stay within the read limits, and have positions at which new ones will appear", async () => {
    await append(1, "proposals", 9);
    await queue.fill();
    await queue.fill();
    expect(queue.size).toBe(3);
    expect(queue.ends()).toContainEqual({ topic: "proposals", partition: 0, offset: 3 });
  });

  it("start again at the offsets of a reset", async () => {
    await append(1, "proposals", 4);
    await takeAll();
    queue.reset({ proposals: 2, results: 0, verdicts: 0 });
    expect(await takeAll()).toEqual(["proposals/2", "proposals/3"]);
  });
});
