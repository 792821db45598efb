// What platform teams meet: many idle partitions, a conversation that floods one, and the end of a
// gate with many conversations.
import { setTimeout as sleep } from "node:timers/promises";
import { createKafka } from "../../../services/adapters/kafka/client.ts";
import { type KafkaLog, openKafkaLog } from "../../../services/adapters/kafka/kafka-log.ts";
import { conversationKey } from "../../../services/runtime/partitioner.ts";
import type { OutgoingRecord } from "../../../services/runtime/ports.ts";
import { quietLogger } from "../../../services/runtime/quiet-logger.ts";
import { JOURNAL_TOPIC } from "../../../services/runtime/topics.ts";
import type { BenchRow } from "../bench-row.ts";
import { type BenchSettings, benchCodec, kafkaOf, openBenchRedis, topicsOf } from "./bench-gate.ts";
import { type Gate, type GateParts, Gates } from "./gates.ts";
import type { PartResult } from "./part-result.ts";
import { runLoad } from "./shared-bench.ts";

export const IDLE = "processor time of a gate with 100 idle partitions";
export const BEHIND_FLOOD = "a call behind 20,000 of another conversation";
export const CLEAN_END = "end of a gate with 60,000 conversations";

const IDLE_PARTITIONS = 100;
const IDLE_SETTLE_MS = 5_000;
const IDLE_MS = 20_000;
const MS_PER_SECOND = 1_000;
const PERCENT = 100;
const FLOOD_CALLS = 20_000;
const APPENDED_AT_ONCE = 1_000;
const CONVERSATIONS = 60_000;
const QUIET_MS = 2_000;
/** Time for the saves in the background. */
const SAVING_MS = 10_000;
const WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 5;
const LIMITS = { recordsMax: 5_000, bytesMax: 8 * 1_024 * 1_024 };
const TENANT = "t";

export async function measureField(parts: GateParts): Promise<PartResult> {
  const failures: string[] = [];
  const rows = [
    await withGate(parts, { name: "idle", partitions: IDLE_PARTITIONS }, measureIdle),
    await withGate(parts, { name: "flood", partitions: 1 }, measureFlood),
    await withGate(parts, { name: "end", partitions: 1 }, (lab) => measureEnd(lab, failures)),
  ];
  return { rows, failures };
}

type Lab = {
  readonly parts: GateParts;
  readonly settings: BenchSettings;
  readonly gate: Gate;
  readonly log: KafkaLog;
};

async function withGate(
  parts: GateParts,
  { name, partitions }: { readonly name: string; readonly partitions: number },
  measure: (lab: Lab) => Promise<BenchRow>,
): Promise<BenchRow> {
  const { brokers } = parts.bench;
  const output = `${name}-${process.pid}`;
  const topics = { IN: `${output}-proposed`, OUT: output, P: String(partitions) };
  const group = `${output}-group`;
  const settings: BenchSettings = {
    ...{ brokers: brokers.split(","), input: topics.IN, output, group, partitions },
    ...{ redisUrl: parts.redisUrl, checkpointEvery: 50_000 },
  };
  const gates = new Gates(parts, { ...topics, GROUP: group, BROKERS: brokers });
  try {
    const gate = await gates.start("redis");
    const log = await openKafkaLog({
      ...{ kafka: createKafka(kafkaOf(settings), quietLogger), names: topicsOf(settings) },
      ...{ clientId: "bench-field", requestTimeoutMs: 30_000 },
    });
    try {
      return await measure({ parts, settings, gate, log });
    } finally {
      await log.close();
    }
  } finally {
    await gates.stopAll();
    await runLoad(parts.bench, "clean", { TOPIC_PREFIX: output });
  }
}

async function measureIdle({ gate }: Lab): Promise<BenchRow> {
  await sleep(IDLE_SETTLE_MS);
  const before = await gate.cpuSeconds();
  const startedAt = performance.now();
  await sleep(IDLE_MS);
  const used = (await gate.cpuSeconds()) - before;
  const seconds = (performance.now() - startedAt) / MS_PER_SECOND;
  return { name: IDLE, unit: "% of a core", p50: (used / seconds) * PERCENT };
}

/** The gate stands still until all calls are there. */
async function measureFlood({ gate, log }: Lab): Promise<BenchRow> {
  const codec = benchCodec();
  const call = (conversationId: string, index: number): OutgoingRecord => {
    const value = codec.encodeProposal({
      ...{ tenantId: TENANT, conversationId, callId: `${conversationId}-${index}`, agentId: null },
      ...{ turn: String(index), step: "1", tool: "send_message" },
      arguments: JSON.stringify({ subject: "Again" }),
      ...{ assistantText: null, estimatedCost: null, confirmation: null },
    });
    const key = conversationKey(TENANT, conversationId);
    return { topic: "proposals", partition: 0, key, value };
  };
  const from = await log.endOffset(JOURNAL_TOPIC, 0);
  gate.kill("SIGSTOP");
  for (let at = 0; at < FLOOD_CALLS; at += APPENDED_AT_ONCE) {
    await log.append(
      Array.from({ length: APPENDED_AT_ONCE }, (_, index) => call("flood", at + index)),
    );
  }
  await log.append([call("other", 0)]);
  const startedAt = performance.now();
  gate.kill("SIGCONT");
  const before = await waitForDecision(log, from, "other-0");
  const note = `${before} decisions before it`;
  return { name: BEHIND_FLOOD, unit: "ms", p50: performance.now() - startedAt, note };
}

/** Returns how many journal records were before it. */
async function waitForDecision(log: KafkaLog, from: number, mark: string): Promise<number> {
  let before = 0;
  for (const untilMs = performance.now() + WITHIN_MS; performance.now() < untilMs; ) {
    const { records, nextOffset } = await log.read(JOURNAL_TOPIC, 0, from, LIMITS);
    const at = records.findIndex(({ value }) => Buffer.from(value ?? []).includes(mark));
    if (at >= 0) return before + at;
    before += records.length;
    from = nextOffset;
    if (records.length === 0) await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`no decision within ${WITHIN_MS} ms`);
}

async function measureEnd(
  { parts, settings, gate, log }: Lab,
  failures: string[],
): Promise<BenchRow> {
  await runLoad(parts.bench, "preload", {
    ...{ IN: settings.input, P: "1", N: String(CONVERSATIONS) },
    CONVERSATIONS: String(CONVERSATIONS),
  });
  const end = await waitForQuiet(log);
  await sleep(SAVING_MS);
  const startedAt = performance.now();
  await gate.stop();
  const elapsedMs = performance.now() - startedAt;
  const header = await readCheckpoint(settings, log);
  if (header === null || header.journalOffset < end) {
    const what = header === null ? "none" : `one at ${header.journalOffset}`;
    failures.push(`the gate left ${what} as its checkpoint, and the journal ends at ${end}`);
  }
  return { name: CLEAN_END, unit: "ms", p50: elapsedMs };
}

async function readCheckpoint(settings: BenchSettings, log: KafkaLog) {
  const redis = await openBenchRedis(settings, quietLogger);
  try {
    return (await redis?.checkpoints(log).look(0))?.header ?? null;
  } finally {
    redis?.client.close();
  }
}

/** The offset after the last journal record once none has been added for a while. */
async function waitForQuiet(log: KafkaLog): Promise<number> {
  let last = -1;
  for (;;) {
    const end = await log.endOffset(JOURNAL_TOPIC, 0);
    if (end === last) break;
    last = end;
    await sleep(QUIET_MS);
  }
  // A transaction of the gate ends with a marker behind its last record.
  return last - 1;
}
