import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { MemoryLog } from "../../../services/adapters/memory/memory-log.ts";
import { NOTHING_AHEAD, noteDecided } from "../../../services/runtime/decided-ahead.ts";
import { InputQueue } from "../../../services/runtime/input-queue.ts";
import type { FetchedInput } from "../../../services/runtime/process-batch.ts";
import { type InputTopic, NO_POSITION, type PerInput } from "../../../services/runtime/topics.ts";

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

  async function append(atMs: number, topic: InputTopic, count = 1, key = "k"): Promise<void> {
    nowMs = atMs;
    const record = { topic, partition: 0, key, value: Buffer.from("v") };
    await log.append(new Array(count).fill(record));
  }

  function takeBatch(): readonly FetchedInput[] {
    const taken: FetchedInput[] = [];
    queue.arrange(LIMITS.recordsMax, NOTHING_AHEAD);
    for (let input = queue.peek(); input !== undefined; input = queue.peek()) {
      taken.push(input);
      queue.take();
    }
    return taken;
  }

  /** Takes all inputs, and reads on when the queue needs it. */
  async function takeAll(): Promise<readonly string[]> {
    const taken: string[] = [];
    for (let reads = 0; reads < 20; reads += 1) {
      await queue.fill();
      taken.push(...takeBatch().map(nameOf));
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
    expect(takeBatch().map(({ record }) => record.appendTimeMs)).toEqual([1, 1, 1]);
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
    for (let each = 0; each < 9; each += 1) await append(1, "proposals", 1, `${each}/c`);
    await queue.fill();
    await queue.fill();
    expect(queue.size).toBe(3);
    expect(queue.ends()).toContainEqual({ topic: "proposals", partition: 0, offset: 3 });
  });

  it("start again at the offsets of a reset", async () => {
    await append(1, "proposals", 4);
    await takeAll();
    queue.reset({ next: { ...NO_POSITION, proposals: 2 }, ahead: NOTHING_AHEAD });
    expect(await takeAll()).toEqual(["proposals/2", "proposals/3"]);
  });

  it("start again without those that were decided ahead", async () => {
    await append(1, "proposals", 6);
    const ahead = { ...NOTHING_AHEAD, proposals: [[2, 3] as const, [4, 5] as const] };
    queue.reset({ next: { ...NO_POSITION, proposals: 1 }, ahead });
    expect(await takeAll()).toEqual(["proposals/1", "proposals/3", "proposals/5"]);
  });

  it("of others are taken in the next batch, however many of one conversation are before them", async () => {
    await append(1, "proposals", 500, "acme/flood");
    await append(2, "proposals", 1, "acme/other");
    await append(3, "results", 1, "globex/other");
    await queue.fill();
    expect(takeBatch().map(nameOf)).toEqual(["proposals/0", "proposals/500", "results/0"]);
  });

  it("of one tenant leave half of a batch to others", async () => {
    for (let each = 0; each < 20; each += 1) await append(1, "proposals", 1, `acme/${each}`);
    await append(2, "proposals", 1, "globex/1");
    await queue.fill();
    expect(takeBatch().map(nameOf)).toEqual(["proposals/0", "proposals/1", "proposals/20"]);
  });

  it("keep the order of the log where nobody else waits", async () => {
    await append(1, "proposals", 5, "acme/flood");
    await queue.fill();
    expect(takeBatch().map(nameOf)).toEqual(["proposals/0", "proposals/1", "proposals/2"]);
  });

  it("keep the order of the log where what is decided ahead is in too many pieces", async () => {
    await append(1, "proposals", 3, "acme/flood");
    await append(2, "proposals", 1, "acme/other");
    await queue.fill();
    const pieces = Array.from({ length: 4_096 }, (_, at) => [2 * at, 2 * at + 1] as const);
    queue.arrange(2, { ...NOTHING_AHEAD, results: pieces });
    expect(queue.readAhead().map(nameOf)).toEqual(["proposals/0", "proposals/1"]);
  });

  it("are read ahead no further than the window", async () => {
    const window = { recordsMax: 9, bytesMax: 1_000_000 };
    queue = new InputQueue(log, 0, LIMITS, window);
    await append(1, "proposals", 50, "acme/flood");
    await queue.fill();
    expect(queue.size).toBe(9);
  });

  it("keep the order of each conversation, and each is taken once", async () => {
    await fc.assert(
      fc.asyncProperty(inputsOfMany, fc.integer({ min: 1, max: 7 }), async (inputs, inputsMax) => {
        log = new MemoryLog({ partitions: 1, clusterId: "c", nowMs: () => nowMs });
        queue = new InputQueue(log, 0, { recordsMax: inputsMax, bytesMax: 100 });
        let progress: Progress = { next: NO_POSITION, ahead: NOTHING_AHEAD };
        for (const [at, [topic, key]] of inputs.entries()) await append(at, topic, 1, key);
        const taken: FetchedInput[] = [];
        for (let turn = 0; taken.length < inputs.length && turn < 500; turn += 1) {
          // A restart, at any time.
          if (turn % 5 === 4) queue.reset(progress);
          await queue.fill();
          queue.arrange(inputsMax, progress.ahead);
          for (let input = queue.peek(); input !== undefined; input = queue.peek()) {
            taken.push(input);
            progress = advanced(progress, input, queue.take());
          }
        }
        expect(taken.map(nameOf).sort()).toEqual(namesOf(inputs).sort());
        expect(progress).toEqual({ next: endsOf(inputs), ahead: NOTHING_AHEAD });
        expect(timesByKey(taken)).toEqual(timesByKey(inSequence(taken)));
      }),
      { numRuns: 200 },
    );
  });
});

type Progress = Parameters<InputQueue["reset"]>[0];

const inputsOfMany = fc.array(
  fc.tuple(
    fc.constantFrom<InputTopic>("proposals", "proposals", "proposals", "results", "verdicts"),
    fc.constantFrom("acme/1", "acme/1", "acme/1", "acme/2", "globex/1"),
  ),
  { maxLength: 60 },
);

function nameOf({ topic, record }: FetchedInput): string {
  return `${topic}/${record.offset}`;
}

function namesOf(inputs: readonly (readonly [InputTopic, string])[]): string[] {
  return inputs.map(([topic], at) => {
    const before = inputs.slice(0, at).filter(([other]) => other === topic);
    return `${topic}/${before.length}`;
  });
}

function endsOf(inputs: readonly (readonly [InputTopic, string])[]): PerInput {
  const ends = { proposals: 0, results: 0, verdicts: 0 };
  for (const [topic] of inputs) ends[topic] += 1;
  return ends;
}

/** The progress after an input. */
function advanced(
  { next, ahead }: Progress,
  { topic, record }: FetchedInput,
  nextOffset: number,
): Progress {
  return {
    next: { ...next, [topic]: nextOffset },
    ahead: noteDecided(ahead, topic, record.offset, nextOffset),
  };
}

function timesByKey(inputs: readonly FetchedInput[]): ReadonlyMap<string, readonly number[]> {
  const times = new Map<string, number[]>();
  for (const { record } of inputs) {
    const key = Buffer.from(record.key ?? []).toString();
    times.set(key, [...(times.get(key) ?? []), record.appendTimeMs]);
  }
  return new Map([...times].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function inSequence(inputs: readonly FetchedInput[]): readonly FetchedInput[] {
  return [...inputs].sort((a, b) => a.record.appendTimeMs - b.record.appendTimeMs);
}
