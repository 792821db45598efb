import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { coreFold } from "../../../services/runtime/core-engine.ts";
import { FatalError } from "../../../services/runtime/errors.ts";
import type { JournalRecord } from "../../../services/runtime/journal.ts";
import type { Log, LogRecord } from "../../../services/runtime/ports.ts";
import { type VerifyReport, verifyJournal } from "../../../services/runtime/verify.ts";
import { DAY_MS, RuntimeKit, until } from "../../support/runtime-kit.ts";
import { createEngine } from "../../support/simulation/engines.ts";
import { decodeJson, encodeJson, jsonCodec } from "../../support/simulation/json-codec.ts";

let kit: RuntimeKit;

beforeEach(async () => {
  kit = new RuntimeKit();
  const task = kit.start({ checkpoints: null, options: { hashEvery: 3 } });
  for (let i = 0; i < 9; i += 1) await kit.propose({ tool: i % 2 === 0 ? "read_order" : "charge" });
  await kit.journaled(9);
  await task.close();
});

afterEach(() => kit.close());

function verify(
  change: (records: LogRecord[]) => readonly LogRecord[],
  onInputs: () => void = () => undefined,
): Promise<VerifyReport> {
  const log: Log = {
    partitions: 1,
    clusterId: "c",
    topicId: (topic) => topic,
    append: (records) => kit.log.append(records),
    read: async (topic, partition, from, limits) => {
      const result = await kit.log.read(topic, partition, from, limits);
      if (topic === "decisions") return { ...result, records: change([...result.records]) };
      onInputs();
      return result;
    },
    endOffset: (topic, partition) => kit.log.endOffset(topic, partition),
    startOffset: (topic, partition) => kit.log.startOffset(topic, partition),
    waitForNew: async () => undefined,
    close: async () => undefined,
  };
  const context = { log, codec: jsonCodec, fold: coreFold, journalSpanMs: 8 * DAY_MS };
  return verifyJournal(context, 0);
}

function edited(
  records: LogRecord[],
  at: number,
  edit: (record: JournalRecord) => unknown,
): LogRecord[] {
  return records.map((record, index) =>
    index === at ? { ...record, value: encodeJson(edit(decodeJson(record.value))) } : record,
  );
}

/** The record's input, at another offset. */
function at(record: JournalRecord, offset: number): JournalRecord["input"] {
  const { input } = record;
  return input.type === "idle" ? input : { ...input, at: { ...input.at, offset } };
}

describe("verifying a journal", () => {
  it("finds nothing in a correct journal, and reports what it checked", async () => {
    expect(await verify((records) => records)).toMatchObject({
      records: 9,
      firstSeq: 1,
      lastSeq: 9,
      stateHashesCompared: 3,
      inputsCompared: 9,
      inputsProblem: null,
      chainHead: expect.stringMatching(/^[0-9a-f]{64}$/),
      problems: [],
    });
  });

  it.each<readonly [string, (records: LogRecord[]) => readonly LogRecord[], RegExp]>([
    ["a missing record", (r) => r.filter((_, i) => i !== 4), /seq 6 follows 4/],
    [
      "a duplicated record",
      (r) => r.flatMap((one, i) => (i === 4 ? [one, one] : [one])),
      /seq 5 follows 5/,
    ],
    [
      "swapped records",
      (r) => [r[1], r[0], ...r.slice(2)].flatMap((one) => one ?? []),
      /seq 2 follows 0/,
    ],
    ["an edited record", (r) => edited(r, 4, (j) => ({ ...j, policyRevision: "x" })), /not linked/],
    [
      "an edited state hash",
      (r) => edited(r, 5, (j) => ({ ...j, stateHash: "0".repeat(24) })),
      /do not give the state/,
    ],
    [
      "a record with other offsets to read next",
      (r) => edited(r, 4, (j) => ({ ...j, next: { ...j.next, results: 3 } })),
      /goes on at results 3 instead of 0/,
    ],
    [
      "a second decision of one proposal",
      (r) =>
        edited(r, 8, (j) => ({
          ...j,
          events: decodeJson<JournalRecord>(r[1]?.value ?? null).events,
        })),
      /is made a second time/,
    ],
  ])("finds %s", async (_what, change, problem) => {
    const { problems } = await verify(change);
    expect(problems.map((one) => one.problem).join("\n")).toMatch(problem);
  });

  it("finds an input that is decided a second time", async () => {
    const { problems } = await verify((records) =>
      edited(records, 4, (j) => ({ ...j, input: at(j, 3), next: { ...j.next, proposals: 4 } })),
    );
    expect(problems.map(({ problem }) => problem)).toContain(
      "proposals 3 is decided a second time",
    );
  });

  it("finds an input that was skipped, even if the journal goes on after it", async () => {
    const { problems } = await verify((records) =>
      edited(records, 4, (j) => ({ ...j, input: at(j, 5), next: { ...j.next, proposals: 6 } })),
    );
    expect(problems[0]).toMatchObject({
      ...{ offset: 4, seq: 5 },
      problem: "proposals 4 has no record of its own before it",
    });
  });

  it("accepts inputs that are gone, and a topic without read permission", async () => {
    kit.log.topics.deleteBefore("proposals", 0, 4);
    const records = (all: LogRecord[]) => all;
    expect(await verify(records)).toMatchObject({ inputsCompared: 5, problems: [] });
    const denied = () => {
      throw new FatalError("log_unreadable", "no right to read `proposals`");
    };
    expect(await verify(records, denied)).toMatchObject({
      ...{ inputsCompared: 0, inputsProblem: "no right to read `proposals`", problems: [] },
    });
  });

  it("finds a record that cannot be decoded, and checks those after it", async () => {
    const { problems, records } = await verify((all) =>
      all.flatMap((one, i) => (i === 4 ? [{ ...one, value: null }, one] : [one])),
    );
    expect(records).toBe(9);
    expect(problems).toEqual([expect.objectContaining({ partition: 0, offset: 4, seq: null })]);
  });

  it("accepts a journal whose start has moved", async () => {
    kit.log.topics.deleteBefore("decisions", 0, 4);
    expect(await verify((records) => records)).toMatchObject({
      firstSeq: 5,
      records: 5,
      problems: [],
    });
  });

  it("cannot find a missing end, which only the head shows", async () => {
    const { chainHead } = await verify((records) => records);
    const cut = await verify((records) => records.slice(0, -2));
    expect(cut.problems).toEqual([]);
    expect(cut.chainHead).not.toBe(chainHead);
  });
});

/**
 * A journal over so many days whose first record is gone, and a conversation's beginning with it.
 */
async function aged(
  days: number,
  conversation: { readonly max_age_ms: number; readonly idle_ms: number },
  oldOnDays: readonly number[],
  change: (records: LogRecord[]) => readonly LogRecord[] = (records) => records,
): Promise<VerifyReport> {
  kit = new RuntimeKit();
  const engine = createEngine(
    { preset: "balanced", conversation, tool_schemas: { pay: {} } },
    "long",
  );
  const task = kit.start({ checkpoints: null, options: { hashEvery: 1 }, engine });
  let count = 0;
  const propose = async (conversationId: string): Promise<void> => {
    await kit.propose({ conversationId, tool: "pay" });
    count += 1;
    await until(async () => {
      const journal = await kit.journal();
      return journal.at(-1)?.next.proposals === count;
    });
  };
  await propose("old");
  for (let day = 1; day <= days; day += 1) {
    kit.clock.advance(DAY_MS);
    await propose("new");
    if (oldOnDays.includes(day)) await propose("old");
  }
  await task.close();
  kit.log.topics.deleteBefore("decisions", 0, 1);
  return verify(change);
}

describe("a journal whose start has moved, under a policy with long conversations", () => {
  it("is not damaged where an earlier conversation goes on", async () => {
    const conversation = { max_age_ms: 30 * DAY_MS, idle_ms: 7 * DAY_MS };
    expect((await aged(14, conversation, [5, 10])).problems).toEqual([]);
  });

  it("is not damaged where an earlier conversation is idle", async () => {
    const conversation = { max_age_ms: 30 * DAY_MS, idle_ms: 20 * DAY_MS };
    expect((await aged(14, conversation, [])).problems).toEqual([]);
  });

  it("is compared once the earlier conversation is forgotten", async () => {
    const conversation = { max_age_ms: 30 * DAY_MS, idle_ms: 7 * DAY_MS };
    const report = await aged(20, conversation, [5, 10]);
    expect(report.problems).toEqual([]);
    expect(report.stateHashesCompared).toBeGreaterThan(0);
    const { problems } = await aged(20, conversation, [5, 10], (records) =>
      edited(records, records.length - 1, (j) => ({ ...j, stateHash: "0".repeat(24) })),
    );
    expect(problems).toEqual([
      expect.objectContaining({ problem: expect.stringMatching(/do not give the state/) }),
    ]);
  });
});
