// Proposes a few calls a second on every partition, and measures the longest time without a
// decision.
import { setTimeout as sleep } from "node:timers/promises";
import { createKafka } from "../../../services/adapters/kafka/client.ts";
import { type KafkaLog, openKafkaLog } from "../../../services/adapters/kafka/kafka-log.ts";
import { conversationKey, partitionOf } from "../../../services/runtime/partitioner.ts";
import { quietLogger } from "../../../services/runtime/quiet-logger.ts";
import { JOURNAL_TOPIC } from "../../../services/runtime/topics.ts";
import { type BenchSettings, benchCodec, kafkaOf, topicsOf } from "./bench-gate.ts";

const EVERY_MS = 20;
const LOOK_EVERY_MS = 5;
const CALLS_EACH = 20;
const LIMITS = { recordsMax: 1_000, bytesMax: 4 * 1_024 * 1_024 };
const TENANT = "t";
/** Begins the name of each of our conversations and calls. */
const MARK = "trickle-";

export class Trickle {
  readonly #log: KafkaLog;
  readonly #codec = benchCodec();
  /** The times of decisions, by partition. */
  readonly #seen: number[][];
  readonly #conversations: { name: number; calls: number }[];
  #names = 0;
  #calls = 0;
  #stopped = false;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(log: KafkaLog) {
    this.#log = log;
    this.#seen = Array.from({ length: log.partitions }, () => []);
    this.#conversations = this.#seen.map(() => ({ name: 0, calls: CALLS_EACH }));
  }

  static async start(settings: BenchSettings): Promise<Trickle> {
    const log = await openKafkaLog({
      ...{ kafka: createKafka(kafkaOf(settings), quietLogger), names: topicsOf(settings) },
      ...{ clientId: "bench-trickle", requestTimeoutMs: 30_000 },
    });
    const trickle = new Trickle(log);
    const readers = trickle.#seen.map((_, partition) => trickle.#read(partition));
    trickle.#running = Promise.all([...readers, trickle.#propose()]);
    return trickle;
  }

  /** Resolves when each partition has had a decision of ours after this moment of `performance.now`. */
  async decidedAfter(atMs: number, withinMs: number): Promise<void> {
    for (const untilMs = performance.now() + withinMs; ; ) {
      if (this.#seen.every((seen) => (seen.at(-1) ?? 0) > atMs)) return;
      if (performance.now() > untilMs) throw new Error(`no decision within ${withinMs} ms`);
      await sleep(LOOK_EVERY_MS);
    }
  }

  /** The longest time that a partition was without a decision since then. */
  longestGapMs(sinceMs: number): number {
    const gaps = this.#seen.map((seen) => {
      const times = [sinceMs, ...seen.filter((atMs) => atMs > sinceMs)];
      return Math.max(...times.slice(1).map((atMs, at) => atMs - (times[at] ?? atMs)));
    });
    return Math.max(...gaps);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
    await this.#log.close();
  }

  async #propose(): Promise<void> {
    while (!this.#stopped) {
      await this.#log.append(this.#conversations.map((_, partition) => this.#call(partition)));
      await sleep(EVERY_MS);
    }
  }

  #call(partition: number) {
    const current = this.#conversations[partition] ?? { name: 0, calls: CALLS_EACH };
    if (current.calls >= CALLS_EACH) {
      current.name = this.#nameFor(partition);
      current.calls = 0;
    }
    current.calls += 1;
    this.#calls += 1;
    const conversationId = `${MARK}${current.name}`;
    const value = this.#codec.encodeProposal({
      ...{ tenantId: TENANT, conversationId, callId: `${MARK}${this.#calls}`, agentId: null },
      ...{ turn: "1", step: String(current.calls), tool: "send_message" },
      arguments: JSON.stringify({ subject: `Case ${this.#calls}` }),
      ...{ assistantText: null, estimatedCost: null, confirmation: null },
    });
    const key = conversationKey(TENANT, conversationId);
    return { topic: "proposals" as const, partition, key, value };
  }

  /** The next name whose conversation belongs to the partition. */
  #nameFor(partition: number): number {
    const { partitions } = this.#log;
    do this.#names += 1;
    while (partitionOf(conversationKey(TENANT, `${MARK}${this.#names}`), partitions) !== partition);
    return this.#names;
  }

  async #read(partition: number): Promise<void> {
    let offset = await this.#log.endOffset(JOURNAL_TOPIC, partition);
    while (!this.#stopped) {
      const { records, nextOffset } = await this.#log.read(
        JOURNAL_TOPIC,
        partition,
        offset,
        LIMITS,
      );
      offset = nextOffset;
      const isOurs = records.some(({ value }) => Buffer.from(value ?? []).includes(MARK));
      if (isOurs) this.#seen[partition]?.push(performance.now());
      if (records.length === 0) await sleep(LOOK_EVERY_MS);
    }
  }
}
