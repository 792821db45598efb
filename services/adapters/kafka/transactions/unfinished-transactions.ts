/**
 * Transactions that the cluster has left open for ever.
 *
 * A coordinator that finds no leader for a partition takes the partition for deleted, leaves it out,
 * and calls the transaction ended (seen on Kafka 4.4.0 where its only broker was killed and started
 * again; KAFKA-20734; not on 3.9.1). Nothing ends it there any more: readers wait before it for ever,
 * and the next transaction of the same producer would commit or abort it along with itself.
 *
 * UNFINISHED-1 it is looked for after the fence: then the coordinator has ended everything, and what is open
 *    stays open.
 * UNFINISHED-2 all that is left of it ends in one way. It was committed if any part of it can be seen; what
 *    nobody has seen is aborted, and its inputs are decided again.
 * UNFINISHED-3 it is ended by what opened it: a newer epoch of the same producer id. What another producer has
 *    opened is not touched.
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

/** What was written together with a journal record. */
export type WrittenWith = {
  /** The input; null: it had none. */
  readonly at: InputPosition | null;
  /** `id` stands in the record and in no other of its topic; null: whichever record. */
  readonly outputs: readonly { readonly topic: Topic; readonly id: string | null }[];
};

export type LeftOpenContext = {
  /** Connected when it is used. */
  readonly link: ClusterLink;
  readonly names: TopicNames;
  readonly logger: Logger;
  readonly transactionTimeoutMs: number;
  /** Where the owner of a number writes. */
  readonly topics: readonly Topic[];
  /** Null: there is no journal; what is left open is committed, as its writer may have been told. */
  readonly writtenWith: ((journalValue: Uint8Array) => Promise<WrittenWith>) | null;
  readonly recordedOffsets: (partition: number) => Promise<PerInput>;
};

/** One topic-partition and the end of what was decided of it. */
type Open = { readonly topic: Topic; readonly from: number; readonly to: number };

type Part = Open & { readonly records: readonly LogRecord[] };

/** The ends of a partition that is fenced differ for no longer than its leader needs to learn of it. */
const GRACE_MS = 1_000;
const POLL_MS = 50;
const WAIT_MS_MAX = 10_000;
/** Enough to hold all that one transaction wrote. */
const TAIL_OFFSETS = 4_000;

export class LeftOpen {
  readonly #context: LeftOpenContext;

  constructor(context: LeftOpenContext) {
    this.#context = context;
  }

  /** True where something is open in a number that has been fenced. */
  async isThere(partition: number): Promise<boolean> {
    try {
      await this.#context.link.connect();
      const untilMs = performance.now() + GRACE_MS;
      while ((await this.#open(partition)).length > 0) {
        if (performance.now() > untilMs) return true;
        await sleep(POLL_MS);
      }
      return false;
    } catch (error) {
      await this.#context.link.refreshIfConnected();
      throw mapKafkaError(error, `looking at the ends of partition ${partition}`);
    }
  }

  /** Ends it. Fences whoever had the id; a producer is to be made anew after it. */
  async end(partition: number, transactionalId: string): Promise<void> {
    const { link, names, logger } = this.#context;
    try {
      const coordinator = await link.coordinatorOf(transactionalId);
      const identity = await this.#identify(coordinator, transactionalId);
      const parts = await this.#ours(partition, Number(identity.producerId));
      if (parts.length === 0) return;
      const commit = await this.#isCommitted(partition, parts);
      const topics = parts.map(({ topic }) => ({ topic: names[topic], partitions: [partition] }));
      await coordinator.addPartitionsToTxn({ ...identity, topics });
      await coordinator.endTxn({ ...identity, transactionResult: commit });
      await this.#untilEnded(partition, parts);
      logger.warn("a transaction that the cluster had left open was ended", {
        partition,
        outcome: commit ? "committed" : "aborted",
        topics: parts.map(({ topic, from, to }) => `${topic} ${from}-${to}`).join(", "),
      });
    } catch (error) {
      await link.refreshIfConnected();
      throw mapKafkaError(error, `ending what was left open in partition ${partition}`);
    }
  }

  close(): Promise<void> {
    return this.#context.link.close();
  }

  async #open(partition: number): Promise<readonly Open[]> {
    const { link, names, topics } = this.#context;
    const ends = await Promise.all(
      topics.map(async (topic) => {
        const from = await link.offset(names[topic], partition, "stable");
        return { topic, from, to: await link.offset(names[topic], partition, "latest") };
      }),
    );
    return ends.filter(({ from, to }) => from < to);
  }

  /** A newer epoch of the id's producer (UNFINISHED-3). */
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
        // The coordinator may still be ending something else.
        if (performance.now() > untilMs) throw error;
        await sleep(POLL_MS);
      }
    }
  }

  /** What the producer itself has open. */
  async #ours(partition: number, producerId: number): Promise<readonly Part[]> {
    const { link, names, logger } = this.#context;
    const parts: Part[] = [];
    for (const open of await this.#open(partition)) {
      const { topic, from, to } = open;
      const stretch = { name: names[topic], partition, from, to, committed: false };
      const { records, producers } = await readRange(link, stretch);
      if (producers.has(producerId)) parts.push({ ...open, records });
      else {
        logger.warn("another producer has a transaction open where only gates write", {
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

  /** The last of what readers see. */
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

/** A transaction that nobody has ended yet; readers of committed records wait before it. */
export type OpenTransaction = {
  /** The topic's real name. */
  readonly name: string;
  readonly partition: number;
  /** Its first record. */
  readonly offset: number;
  /** When that was written, epoch ms. */
  readonly sinceMs: number;
  readonly producerId: number;
};

/**
 * The oldest open transaction of each topic-partition.
 * @param link connected.
 * @param topics by their real names, each with as many partitions as it has.
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
      const stretch = { name, partition, from, to: from + 1, committed: false };
      const { records, producers } = await readRange(link, stretch);
      const [first] = records;
      const [producerId = -1] = producers;
      if (first === undefined) continue;
      open.push({ name, partition, offset: from, sinceMs: first.appendTimeMs, producerId });
    }
  }
  return open;
}

/** For whoever runs the cluster: what it holds up, and how to end it. */
export function describeOpen(open: OpenTransaction, brokers: readonly string[]): string {
  const { name, partition, offset, sinceMs, producerId } = open;
  return (
    `\`${name}\` partition ${partition}: producer ${producerId} has had a transaction open since ` +
    `${new Date(sinceMs).toISOString()}, and nothing from ${offset} on is read: let its writer end it; ` +
    "where that is gone for good, kafka-transactions.sh --bootstrap-server " +
    `${brokers.join(",")} abort --topic ${name} --partition ${partition} --start-offset ${offset}`
  );
}
