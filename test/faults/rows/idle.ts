// A partition without proposals for longer than the retention of its journal.
import { setTimeout as sleep } from "node:timers/promises";
import { startKafka } from "../../../infra/local/start-kafka.js";
import type { KafkaLog } from "../../../services/adapters/kafka/kafka-log.ts";
import { chainHash } from "../../../services/core/hash.ts";
import type { JournalRecord } from "../../../services/runtime/journal.ts";
import { readJournal } from "../../../services/runtime/read-journal.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { connectKafka, makeTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import { openTestGate, propose, testCodec } from "../../support/kafka/test-gate.ts";
import { type ReadRecord, readTopics } from "../lab/read-topics.ts";
import type { Row } from "../lab/row.ts";

const RETENTION_MS = 4_000;
/** The interval of idle records that suits this retention. */
const TUNING = {
  idleRecordAfterMs: RETENTION_MS / 4,
  journalSpanMs: RETENTION_MS / 2,
  waitMsMax: 100,
};
const CALLS = 20;
const WITHIN_MS = 60_000;
const FOR_EVER = "-1";
/** `ConfigResourceTypes.TOPIC` of kafkajs. */
const TOPIC = 2;

export const idle: Row = {
  name: "a partition idle beyond its retention",
  about: "seconds instead of days: the journal loses every record, is never empty, and goes on",
  inShort: false,
  faultsMin: () => 2,
  run: async ({ open, onEnd, version, fail, cluster: { classes } }) => {
    const kafka = await startKafka({
      ...version,
      properties: { "log.retention.check.interval.ms": 250, "log.initial.task.delay.ms": 250 },
    });
    onEnd(() => kafka.stop());
    const { bootstrap, libs, brokers } = kafka;
    const lab = await open({ cluster: { bootstrap, libs, brokers, classes } });
    await lab.startGate();
    await lab.load.start();

    const names = await makeTopics(bootstrap, {
      partitions: 1,
      config: { "retention.ms": FOR_EVER },
    });
    const log = await openTestLog(bootstrap, names);
    onEnd(() => log.close());
    const admin = connectKafka(bootstrap).admin();
    await admin.connect();
    onEnd(() => admin.disconnect());
    const keep = (retentionMs: string) =>
      admin.alterConfigs({
        validateOnly: false,
        resources: [
          {
            type: TOPIC,
            name: names.decisions,
            configEntries: [
              { name: "retention.ms", value: retentionMs },
              { name: "segment.ms", value: "500" },
              { name: "file.delete.delay.ms", value: "0" },
              { name: "message.timestamp.type", value: "LogAppendTime" },
            ],
          },
        ],
      });
    const group = uniqueName("idle");
    for (let round = 0; round < 2; round += 1) {
      await keep(FOR_EVER);
      const gate = await openTestGate(bootstrap, names, { group, tuning: TUNING });
      await gate.host.start();
      const from = round * CALLS;
      const startedMs = Date.now();
      await propose(log, from, CALLS);
      await until(async () => countOf(await journalOf(log)) >= CALLS, "decided");
      lab.waited(Date.now() - startedMs);
      const read = await readTopics({ bootstrap, libs, classes }, [names.decisions]);
      const [journal = []] = read.get(names.decisions)?.partitions ?? [];
      for (const problem of problemsOf(journal, from)) fail(problem);
      await keep(String(RETENTION_MS));
      const end = await log.endOffset("decisions", 0);
      await until(async () => (await log.startOffset("decisions", 0)) >= end, "deleted");
      await sleep(2 * RETENTION_MS);
      lab.faults += 1;
      await gate.stop();
    }
    return lab;
  },
};

async function until(condition: () => Promise<boolean>, what: string): Promise<void> {
  for (const untilMs = Date.now() + WITHIN_MS; !(await condition()); await sleep(100)) {
    if (Date.now() > untilMs) throw new Error(`the records of the idle partition were not ${what}`);
  }
}

/** The rest of the journal, only for waiting: the checker uses the Java client. */
async function journalOf(log: KafkaLog): Promise<readonly JournalRecord[]> {
  const records: JournalRecord[] = [];
  const end = await log.endOffset("decisions", 0);
  const start = await log.startOffset("decisions", 0);
  for await (const entries of readJournal(log, testCodec, 0, start, end)) {
    records.push(...entries.map(({ record }) => record));
  }
  return records;
}

function proposalsOf(journal: readonly JournalRecord[]): readonly number[] {
  return journal.flatMap(({ input }) =>
    input.type === "decided" && input.at.topic === "proposals" ? [input.at.offset] : [],
  );
}

function countOf(journal: readonly JournalRecord[]): number {
  return proposalsOf(journal).length;
}

/** Checks that the journal is gapless and chained, and that each call was decided once. */
function problemsOf(read: readonly ReadRecord[], from: number): readonly string[] {
  const problems: string[] = [];
  const journal: JournalRecord[] = [];
  let chain: string | undefined;
  for (const { offset, value, timestampType } of read) {
    const bytes = value ?? new Uint8Array();
    const record = testCodec.decodeJournal(bytes);
    const before = journal.at(-1)?.seq ?? record.seq - 1;
    if (record.seq !== before + 1) problems.push(`journal record ${record.seq} follows ${before}`);
    // Retention deleted the record before the first one.
    if (record.prevHash !== (chain ?? record.prevHash)) {
      problems.push(`journal offset ${offset}: the chain is broken`);
    }
    if (timestampType !== "LogAppendTime") problems.push(`offset ${offset}: not of LogAppendTime`);
    chain = chainHash(record.prevHash, bytes);
    journal.push(record);
  }
  const proposalNumbers = proposalsOf(journal);
  const wanted = Array.from({ length: CALLS }, (_, at) => from + at);
  if (proposalNumbers.join() !== wanted.join())
    problems.push(`decided were ${proposalNumbers.join()}`);
  return problems;
}
