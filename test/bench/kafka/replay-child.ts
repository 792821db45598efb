// Replays the journal of a gate that has ended, as a gate does that finds no checkpoint, and prints how fast
// it went and what the states take.
import { setTimeout as sleep } from "node:timers/promises";
import { createKafka } from "../../../services/adapters/kafka/client.ts";
import { openKafkaLog } from "../../../services/adapters/kafka/kafka-log.ts";
import { coreFold } from "../../../services/runtime/core-engine.ts";
import { PartitionState } from "../../../services/runtime/partition-state.ts";
import { quietLogger } from "../../../services/runtime/quiet-logger.ts";
import { readJournal } from "../../../services/runtime/read-journal.ts";
import { Replay } from "../../../services/runtime/replay.ts";
import { JOURNAL_TOPIC } from "../../../services/runtime/topics.ts";
import { benchCodec, benchSettings, kafkaOf, topicsOf } from "./bench-gate.ts";

const MS_PER_SECOND = 1_000;
const BYTES_PER_MB = 1_048_576;
const CONVERSATIONS = 100_000;
const SETTLE_MS = 200;

const settings = benchSettings(process.env);
const codec = benchCodec();
const log = await openKafkaLog({
  ...{ kafka: createKafka(kafkaOf(settings), quietLogger), names: topicsOf(settings) },
  ...{ clientId: "bench-replay", requestTimeoutMs: 30_000 },
});

async function heapUsed(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error("run it with --expose-gc");
  await sleep(SETTLE_MS);
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

async function replay(partition: number): Promise<PartitionState> {
  const state = new PartitionState(coreFold);
  const options = { startMoved: false, checkChain: true, hashesFromSeq: 0, spanMs: 0 };
  const fold = new Replay(state, options);
  const end = await log.endOffset(JOURNAL_TOPIC, partition);
  for await (const entries of readJournal(log, codec, partition, 0, end)) fold.apply(entries);
  return state;
}

const before = await heapUsed();
const startedAt = performance.now();
const states: PartitionState[] = [];
// Partitions are replayed one after the other, so the figure is that of one thread.
for (let partition = 0; partition < log.partitions; partition += 1) {
  states.push(await replay(partition));
}
const seconds = (performance.now() - startedAt) / MS_PER_SECOND;
const bytes = (await heapUsed()) - before;
const records = states.reduce((sum, { progress }) => sum + progress.seq, 0);
const conversations = states.reduce((sum, { size }) => sum + size, 0);
await log.close();
const figures = {
  records,
  conversations,
  records_per_s: Math.round(records / seconds),
  mb_per_100k: Math.round(((bytes / conversations) * CONVERSATIONS) / BYTES_PER_MB),
};
process.stdout.write(`${JSON.stringify(figures)}\n`);
