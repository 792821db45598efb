/**
 * Ends transactions that the cluster has left open for ever.
 *
 * A coordinator that finds no leader for a partition takes the partition for deleted, leaves it
 * out, and records the transaction as ended (seen on Kafka 4.4.0 where its only broker was killed
 * and started again; KAFKA-20734; not on 3.9.1). In that partition nothing ends the transaction any
 * more: readers wait before it for ever, and the next transaction of the same producer would commit
 * or abort it along with itself.
 *
 * UNFINISHED-1 The search comes after the fence: by then the coordinator has ended everything that
 *    it knows of, and what is still open stays open.
 * UNFINISHED-2 All open parts of a transaction end in one way. If readers can see any part of it,
 *    it is committed; otherwise it is aborted, and its inputs are decided again.
 * UNFINISHED-3 A transaction is ended by a newer epoch of the producer id that opened it.
 *    Transactions of other producers are left alone.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { RetryableError } from "../../../runtime/errors.ts";
import type { InputPosition } from "../../../runtime/journal.ts";
import type { Logger, LogRecord } from "../../../runtime/ports.ts";
import { JOURNAL_TOPIC, type PerInput, type Topic } from "../../../runtime/topics.ts";
import type { ClusterLink } from "../cluster-link.ts";
import { mapKafkaError } from "../map-error.ts";
import type { ProducerIdentity, TransactionCoordinator } from "../patches/kafkajs-internals.ts";
import { readRange } from "../records/read-range.ts";
import type { TopicNames } from "../topics/topic-names.ts";

/** What a transaction wrote together with a journal record. */
export type WrittenWith = {
  /** The position of the input; null: the record has no input. */
  readonly at: InputPosition | null;
  /** `id` occurs in this record and in no other of its topic; null: any record. */
  readonly outputs: readonly { readonly topic: Topic; readonly id: string | null }[];
};

export type UnfinishedContext = {
  /** Is connected on first use. */
  readonly link: ClusterLink;
  readonly names: TopicNames;
  readonly logger: Logger;
  readonly transactionTimeoutMs: number;
  /** Topics that the owner of a partition writes. */
  readonly topics: readonly Topic[];
  /**
   * Null: without a journal, open transactions are committed, as their writer may have been told
   * so.
   */
  readonly writtenWith: ((journalValue: Uint8Array) => Promise<WrittenWith>) | null;
  readonly recordedOffsets: (partition: number) => Promise<PerInput>;
};

/** The open offsets of one topic-partition, from its last stable offset to its end. */
type Open = { readonly topic: Topic; readonly from: number; readonly to: number };

type Part = Open & { readonly records: readonly LogRecord[] };

/** How long the two ends of a fenced partition may differ: its leader learns of the fence late. */
const GRACE_MS = 1_000;
const POLL_MS = 50;
const WAIT_MS_MAX = 10_000;
/** Offsets at the end of a topic that are searched; more than a transaction writes. */
const TAIL_OFFSETS = 4_000;

export class UnfinishedTransactions {
  readonly #context: UnfinishedContext;

  constructor(context: UnfinishedContext) {
    this.#context = context;
  }

  /** True where a transaction stays open in a partition that has been fenced. */
  async hasOpen(partition: number): Promise<boolean> {
    try {
      await this.#context.link.connect();
      const untilMs = performance.now() + GRACE_MS;
      while ((await this.#findOpen(partition)).length > 0) {
        if (performance.now() > untilMs) return true;
        await sleep(POLL_MS);
      }
      return false;
    } catch (error) {
      await this.#context.link.refreshIfConnected();
      throw mapKafkaError(error, `reading the ends of partition ${partition}`);
    }
  }

  /** Ends the transaction. This fences the id's producer, so the caller must create a new one. */
  async end(partition: number, transactionalId: string): Promise<void> {
    const { link, names, logger } = this.#context;
    try {
      const coordinator = await link.coordinatorOf(transactionalId);
      const identity = await this.#identify(coordinator, transactionalId);
      const parts = await this.#findOwnParts(partition, Number(identity.producerId));
      if (parts.length === 0) return;
      const commit = await this.#isCommitted(partition, parts);
      const topics = parts.map(({ topic }) => ({ topic: names[topic], partitions: [partition] }));
      await coordinator.addPartitionsToTxn({ ...identity, topics });
      await coordinator.endTxn({ ...identity, transactionResult: commit });
      await this.#untilEnded(partition, parts);
      logger.warn("ended a transaction that the cluster had left open", {
        partition,
        outcome: commit ? "committed" : "aborted",
        topics: parts.map(({ topic, from, to }) => `${topic} ${from}-${to}`).join(", "),
      });
    } catch (error) {
      await link.refreshIfConnected();
      throw mapKafkaError(error, `ending the open transaction in partition ${partition}`);
    }
  }

  close(): Promise<void> {
    return this.#context.link.close();
  }

  async #findOpen(partition: number): Promise<readonly Open[]> {
    const { link, names, topics } = this.#context;
    const ends = await Promise.all(
      topics.map(async (topic) => {
        const from = await link.offset(names[topic], partition, "stable");
        return { topic, from, to: await link.offset(names[topic], partition, "latest") };
      }),
    );
    return ends.filter(({ from, to }) => from < to);
  }

  /** Requests a newer epoch of the id's producer (UNFINISHED-3). */
  async #identify(
    coordinator: TransactionCoordinator,
    transactionalId: string,
  ): Promise<ProducerIdentity> {
    const transactionTimeout = this.#context.transactionTimeoutMs;
    const untilMs = performance.now() + WAIT_MS_MAX;
    for (;;) {
      try {
        const made = await coordinator.initProducerId({ transactionalId, transactionTimeout });
        return { ...made, transactionalId };
      } catch (error) {
        // The coordinator may still be ending another transaction.
        if (performance.now() > untilMs) throw error;
        await sleep(POLL_MS);
      }
    }
  }

  /** The open parts that this producer wrote. */
  async #findOwnParts(partition: number, producerId: number): Promise<readonly Part[]> {
    const { link, names, logger } = this.#context;
    const parts: Part[] = [];
    for (const open of await this.#findOpen(partition)) {
      const { topic, from, to } = open;
      const range = { name: names[topic], partition, from, to, committed: false };
      const { records, producers } = await readRange(link, range);
      if (producers.has(producerId)) parts.push({ ...open, records });
      else {
        logger.warn("another producer has an open transaction in a topic that only gates write", {
          ...{ topic: names[topic], partition, offset: from },
          producers: [...producers].join(", "),
        });
      }
    }
    return parts;
  }

  /** UNFINISHED-2. */
  async #isCommitted(partition: number, parts: readonly Part[]): Promise<boolean> {
    const { writtenWith } = this.#context;
    if (writtenWith === null) return true;
    const journal = parts.find(({ topic }) => topic === JOURNAL_TOPIC);
    const rest = parts.filter(({ topic }) => topic !== JOURNAL_TOPIC);
    if (journal === undefined) {
      const written = await this.#describe(await this.#tail(partition, JOURNAL_TOPIC));
      return written.some(({ outputs }) =>
        outputs.some(({ topic, id }) =>
          rest.some((part) => part.topic === topic && holds(part.records, id)),
        ),
      );
    }
    const written = await this.#describe(journal.records);
    const recorded = await this.#context.recordedOffsets(partition);
    if (written.some(({ at }) => at !== null && recorded[at.topic] > at.offset)) return true;
    for (const topic of this.#context.topics) {
      if (parts.some((part) => part.topic === topic)) continue;
      const wanted = written
        .flatMap(({ outputs }) => outputs)
        .filter((one) => one.topic === topic && one.id !== null);
      if (wanted.length === 0) continue;
      const seen = await this.#tail(partition, topic);
      if (wanted.some(({ id }) => holds(seen, id))) return true;
    }
    return false;
  }

  async #describe(records: readonly LogRecord[]): Promise<readonly WrittenWith[]> {
    const written: WrittenWith[] = [];
    for (const { value } of records) {
      if (value === null || this.#context.writtenWith === null) continue;
      written.push(await this.#context.writtenWith(value));
    }
    return written;
  }

  /** The latest records that readers can see. */
  async #tail(partition: number, topic: Topic): Promise<readonly LogRecord[]> {
    const { link, names } = this.#context;
    const name = names[topic];
    const to = await link.offset(name, partition, "stable");
    const start = await link.offset(name, partition, "earliest");
    const from = Math.max(start, to - TAIL_OFFSETS);
    return (await readRange(link, { name, partition, from, to, committed: true })).records;
  }

  async #untilEnded(partition: number, parts: readonly Part[]): Promise<void> {
    const { link, names } = this.#context;
    const untilMs = performance.now() + WAIT_MS_MAX;
    for (const { topic, to } of parts) {
      while ((await link.offset(names[topic], partition, "stable")) < to) {
        if (performance.now() > untilMs) {
          const text = `\`${names[topic]}\` partition ${partition}: a transaction stays open`;
          throw new RetryableError("log_unavailable", text);
        }
        await sleep(POLL_MS);
      }
    }
  }
}

function holds(records: readonly LogRecord[], id: string | null): boolean {
  if (id === null) return records.length > 0;
  return records.some(({ value }) => value !== null && Buffer.from(value).includes(id));
}

/** A transaction that has not ended; readers of committed records wait before it. */
export type OpenTransaction = {
  /** The topic's name in the cluster. */
  readonly name: string;
  readonly partition: number;
  /** Offset of its first record. */
  readonly offset: number;
  /** When the first record was written, epoch ms. */
  readonly sinceMs: number;
  readonly producerId: number;
};

/**
 * Finds the oldest open transaction of each topic-partition.
 * @param link a connected link.
 * @param topics names in the cluster, with their numbers of partitions.
 */
export async function findOpenTransactions(
  link: ClusterLink,
  topics: readonly { readonly name: string; readonly partitions: number }[],
): Promise<readonly OpenTransaction[]> {
  const open: OpenTransaction[] = [];
  for (const { name, partitions } of topics) {
    for (let partition = 0; partition < partitions; partition += 1) {
      const from = await link.offset(name, partition, "stable");
      const to = await link.offset(name, partition, "latest");
      if (from >= to) continue;
      const range = { name, partition, from, to: from + 1, committed: false };
      const { records, producers } = await readRange(link, range);
      const [first] = records;
      const [producerId = -1] = producers;
      if (first === undefined) continue;
      open.push({ name, partition, offset: from, sinceMs: first.appendTimeMs, producerId });
    }
  }
  return open;
}

/** Describes an open transaction to an operator: what it holds up, and how to end it. */
export function describeOpen(open: OpenTransaction, brokers: readonly string[]): string {
  const { name, partition, offset, sinceMs, producerId } = open;
  return (
    `\`${name}\` partition ${partition}: producer ${producerId} has had a transaction open since ` +
    `${new Date(sinceMs).toISOString()}, so readers stop at ${offset}: let its writer end it, or, if the ` +
    "writer is gone for good, run kafka-transactions.sh --bootstrap-server " +
    `${brokers.join(",")} abort --topic ${name} --partition ${partition} --start-offset ${offset}`
  );
}
