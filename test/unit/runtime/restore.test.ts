import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FatalError } from "../../../services/runtime/errors.ts";
import type { Log, Ownership } from "../../../services/runtime/ports.ts";
import type { StreamTask } from "../../../services/runtime/task.ts";
import { createAvroCodec } from "../../../services/wire/codec.ts";
import { DAY_MS, RuntimeKit, until } from "../../support/runtime-kit.ts";
import { jsonCodec } from "../../support/simulation/json-codec.ts";

let kit: RuntimeKit;

beforeEach(() => {
  kit = new RuntimeKit();
});

afterEach(() => kit.close());

async function decided(count: number, apartMs = 0): Promise<void> {
  const task = kit.start({ checkpoints: null });
  for (let i = 0; i < count; i += 1) {
    kit.clock.advance(apartMs);
    await kit.propose();
    await until(async () => (await kit.values("allowed")).length === i + 1);
  }
  await task.close();
}

async function failureOf(task: StreamTask): Promise<string> {
  await until(() => task.status.state === "closed");
  return `${task.status.error?.code}: ${task.status.error?.message}`;
}

describe("a journal whose start has moved", () => {
  it("is accepted where everything that is gone is too old to matter", async () => {
    await decided(3, 9 * DAY_MS);
    await kit.log.applyRetention({ keepMs: 8 * DAY_MS });
    const start = await kit.log.startOffset("decisions", 0);
    const end = await kit.log.endOffset("decisions", 0);
    expect(start).toBeGreaterThan(0);
    kit.clock.advance(9 * DAY_MS);
    kit.start({ checkpoints: null });
    await kit.propose();
    await until(async () => (await kit.log.endOffset("decisions", 0)) > end);
    const seqs = (await kit.journal()).map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => start + 1 + index));
  });

  it("is refused where younger records are gone", async () => {
    await decided(3, 1_000);
    deleteBefore(2);
    const task = kit.start({ checkpoints: null });
    expect(await failureOf(task)).toMatch(/^journal_out_of_reach: .*Raise the journal's retention/);
  });

  it("is refused where nothing of it is left", async () => {
    await decided(2, 1_000);
    deleteBefore(2);
    expect(await failureOf(kit.start({ checkpoints: null }))).toMatch(/^journal_out_of_reach/);
  });

  it("does not matter to a checkpoint after it", async () => {
    const first = kit.start();
    await kit.propose();
    await kit.propose();
    await kit.journaled(2);
    await first.close();
    deleteBefore(1);
    kit.start();
    await kit.propose();
    await until(async () => (await kit.log.endOffset("decisions", 0)) === 3);
  });
});

/** The log as a plain object, so that a test can replace one method. */
function portOf(log: Log): Log {
  return {
    partitions: log.partitions,
    clusterId: log.clusterId,
    topicId: (topic) => log.topicId(topic),
    append: (records) => log.append(records),
    read: (...args) => log.read(...args),
    endOffset: (...args) => log.endOffset(...args),
    startOffset: (...args) => log.startOffset(...args),
    waitForNew: (...args) => log.waitForNew(...args),
    close: () => log.close(),
  };
}

describe("inputs that were deleted before they were decided", () => {
  it("stop the partition", async () => {
    await decided(1);
    await kit.propose();
    await kit.propose();
    kit.log.topics.deleteBefore("proposals", 0, 2);
    expect(await failureOf(kit.start({ checkpoints: null }))).toMatch(/^input_out_of_reach/);
  });
});

describe("a journal that has consumed offsets that its topic never had", () => {
  it("is refused after a while, with a remedy", async () => {
    await decided(2);
    const short: Log = {
      ...portOf(kit.log),
      endOffset: async (topic, partition) => {
        if (topic !== "proposals") return kit.log.endOffset(topic, partition);
        kit.clock.advance(10_000);
        return 1;
      },
    };
    const failure = await failureOf(kit.start({ checkpoints: null, context: { log: short } }));
    expect(failure).toMatch(/^log_mismatch: .*proposals\[0\] up to offset 2.*ends at 1/);
    expect(failure).toContain("another cluster");
  });
});

describe("recorded offsets ahead of the journal", () => {
  it("stop the partition after a while, with a remedy", async () => {
    const ownership: Ownership = {
      takeOver: async (partition) => ({
        ...(await kit.log.takeOver(partition)),
        recordedOffsets: async () => {
          kit.clock.advance(10_000);
          return { proposals: 5, results: 0, verdicts: 0 };
        },
      }),
    };
    const task = kit.start({ ownership });
    expect(await failureOf(task)).toMatch(/^offsets_ahead: .*proposals\[0\] is 5.*reset the group/);
    expect(await kit.journal()).toEqual([]);
  });
});

describe("an inconsistent journal", () => {
  it("is refused", async () => {
    await decided(3);
    const read = kit.log.read.bind(kit.log);
    kit.log.read = async (topic, partition, from, limits) => {
      const result = await read(topic, partition, from, limits);
      if (topic !== "decisions") return result;
      return { ...result, records: result.records.filter(({ offset }) => offset !== 1) };
    };
    const task = kit.start({ checkpoints: null });
    const failure = await failureOf(task);
    expect(failure).toMatch(/^journal_broken: .*journal record 3 follows 1/);
    expect(failure).toMatch(/on a cluster find out who else writes it, and start with another/);
    expect(failure).toMatch(/restore an embedded log from a backup/);
  });

  it("is refused with the position of a record that cannot be decoded", async () => {
    await decided(3);
    const avro = createAvroCodec({ secrets: new Map() });
    let left = 2;
    const decodeJournal = (value: Uint8Array) => {
      left -= 1;
      return left === 0
        ? avro.decodeJournal(Buffer.from("foreign"))
        : jsonCodec.decodeJournal(value);
    };
    const codec = { ...jsonCodec, decodeJournal };
    const failure = await failureOf(kit.start({ checkpoints: null, context: { codec } }));
    expect(failure).toMatch(
      /^journal_broken: .*record that cannot be decoded.* \(partition 0, offset 1\)/,
    );
  });

  it("is refused with only the missing registry where it is in the wire format", async () => {
    await decided(1);
    const avro = createAvroCodec({ secrets: new Map() });
    const decodeJournal = () => avro.decodeJournal(Buffer.from("0000000001ff", "hex"));
    const codec = { ...jsonCodec, decodeJournal };
    const failure = await failureOf(kit.start({ checkpoints: null, context: { codec } }));
    expect(failure).toMatch(/^journal_broken: .*set `registry\.url`.*until then$/);
    expect(failure).not.toMatch(/backup|prefix/);
  });
});

describe("a commit that was acknowledged and then taken back", () => {
  it.each([
    ["is read as the end", 1],
    ["cannot be read, because it is beyond the end", 5],
  ])("is dropped where its position %s: its inputs are decided again", async (_, offset) => {
    const read = kit.log.read.bind(kit.log);
    kit.log.read = async (topic, partition, from, limits) => {
      // Kafka answers that the offset is out of range.
      if (from <= (await kit.log.endOffset(topic, partition))) {
        return await read(topic, partition, from, limits);
      }
      throw new FatalError("log_mismatch", "it was cut off");
    };
    let commits = 0;
    const ownership: Ownership = {
      takeOver: async (partition) => {
        const writer = await kit.log.takeOver(partition);
        return {
          partition,
          recordedOffsets: () => writer.recordedOffsets(),
          close: () => writer.close(),
          commit: async (batch) => {
            commits += 1;
            if (commits === 3) return { type: "unknown", error: new Error("no answer") };
            if (commits !== 2) return writer.commit(batch);
            const appendTimeMs = kit.clock.nowMs();
            return {
              type: "committed",
              appended: batch.records.map(() => ({ offset, appendTimeMs })),
            };
          },
        };
      },
    };
    kit.start({ ownership, checkpoints: null });
    await kit.propose();
    await kit.journaled(1);
    await kit.propose();
    await until(() => commits === 2);
    await kit.propose();
    expect((await kit.journaled(3)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(kit.lines).toContainEqual(
      expect.objectContaining({
        message: "a state was dropped, it is read again from further back",
        fields: expect.objectContaining({ source: "inMemory" }),
      }),
    );
  });
});

describe("a checkpoint store that does not answer", () => {
  it("costs nothing but time", async () => {
    const checkpoints = {
      load: () => Promise.reject(new Error("gone")),
      save: () => Promise.reject(new Error("gone")),
    };
    kit.start({ checkpoints, options: { checkpointEvery: 1 } });
    for (let i = 0; i < 3; i += 1) await kit.propose();
    await kit.journaled(3);
    await until(() => kit.lines.some(({ message }) => message.includes("was not written")));
  });
});

/** Moves the journal's start further than any retention may. */
function deleteBefore(offset: number): void {
  kit.log.topics.deleteBefore("decisions", 0, offset);
}
