/**
 * Appends the records of writers outside the gate: agents, executors, reviewers.
 *
 * APPEND-1 The queue has one send in flight: where two sends share a producer, kafkajs can lose a
 *    record and write another twice. Calls that arrive meanwhile share the next send.
 * APPEND-2 Records that fit into one batch of one topic-partition need no transaction, since a
 *    broker writes a batch as a whole or not at all. Everything else goes out in a transaction.
 * APPEND-3 Records that are too large for their topic go alone: the broker refuses only their part
 *    of a send, and may have written the rest.
 * APPEND-4 After any failure the queue discards the producer, whose sequence numbers may be wrong.
 */
import { randomUUID } from "node:crypto";
import type { Kafka, Producer, RecordMetadata } from "kafkajs";
import {
  FatalError,
  FencedError,
  type PipelineError,
  PoisonRecordError,
  RetryableError,
} from "../../runtime/errors.ts";
import type { Appended, OutgoingRecord } from "../../runtime/ports.ts";
import { endConnections, RETRY } from "./client.ts";
import { mapKafkaError } from "./map-error.ts";
import type { TopicNames } from "./topics/topic-names.ts";
import { SentRecords, toTopicMessages } from "./transactions/outgoing-messages.ts";

type Pending = {
  readonly records: readonly OutgoingRecord[];
  readonly resolve: (appended: readonly Appended[]) => void;
  readonly reject: (error: unknown) => void;
};

type Kind = "plain" | "transactional";

/** Size limit of a batch; the default limit of Kafka is 1 MiB. */
const BATCH_BYTES_MAX = 900 * 1024;
const RECORD_OVERHEAD_BYTES = 32;
const GROUP_RECORDS_MAX = 2_000;
const TRANSACTION_TIMEOUT_MS = 10_000;

export type AppendQueueOptions = {
  readonly kafka: Kafka;
  readonly names: TopicNames;
  /** Prefix of the transactional id; the rest is random, so no other process takes the id over. */
  readonly clientId: string;
  /**
   * Resolves once a reader can see the record. Brokers answer a commit before readers see it.
   */
  readonly untilVisible: (record: OutgoingRecord, at: Appended) => Promise<void>;
};

export class AppendQueue {
  readonly #options: AppendQueueOptions;
  readonly #transactionalId: string;
  readonly #producers: Partial<Record<Kind, Producer>> = {};
  #pending: Pending[] = [];
  #running: Promise<void> | undefined;

  constructor(options: AppendQueueOptions) {
    this.#options = options;
    this.#transactionalId = `${options.clientId}.append.${randomUUID()}`;
  }

  append(records: readonly OutgoingRecord[]): Promise<readonly Appended[]> {
    if (records.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      this.#pending.push({ records, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Sends all pending records, then disconnects the producers. */
  async close(): Promise<void> {
    await this.#running;
    await Promise.all([this.#discard("plain"), this.#discard("transactional")]);
  }

  /**
   * Closes without waiting: pending appends fail, and all connections of the client end at once.
   */
  abandon(): void {
    const error = new FatalError("closed", "the log is closed");
    for (const { reject } of this.#pending.splice(0)) reject(error);
    void this.#discard("plain");
    void this.#discard("transactional");
    endConnections(this.#options.kafka);
  }

  async #run(): Promise<void> {
    // Waiting for one turn of the event loop lets all calls of that turn share a send.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#pending.length > 0) await this.#sendGroup(this.#nextGroup());
    this.#running = undefined;
  }

  /** Takes the calls that can share a send: one batch for each topic-partition holds them all. */
  #nextGroup(): readonly Pending[] {
    const sizes = new Map<string, number>();
    let count = 0;
    let length = 0;
    for (const { records } of this.#pending) {
      count += records.length;
      const largest = addSizes(sizes, records);
      const isTooMuch = count > GROUP_RECORDS_MAX || largest > BATCH_BYTES_MAX;
      if (length > 0 && isTooMuch) break;
      length += 1;
      if (isTooMuch) break;
    }
    return this.#pending.splice(0, length);
  }

  async #sendGroup(group: readonly Pending[]): Promise<void> {
    const all = group.flatMap(({ records }) => records);
    const kind = chooseKind(group);
    try {
      const appended = await this.#send(all, kind);
      let from = 0;
      for (const { records, resolve } of group) {
        resolve(appended.slice(from, from + records.length));
        from += records.length;
      }
    } catch (error) {
      const isTooLarge = error instanceof PoisonRecordError && group.length > 1;
      if (isTooLarge && (kind === "transactional" || isOnePartition(all))) {
        // One call is too large and nothing was written, so each call is sent again by itself.
        for (const one of group) await this.#sendGroup([one]);
        return;
      }
      const reason = isTooLarge ? toPartialError(error) : error;
      for (const { reject } of group) reject(reason);
    }
  }

  async #send(records: readonly OutgoingRecord[], kind: Kind): Promise<readonly Appended[]> {
    let isSent = false;
    try {
      const producer = await this.#producer(kind);
      isSent = true;
      return kind === "plain"
        ? await this.#sendPlain(producer, records)
        : await this.#sendTransaction(producer, records);
    } catch (error) {
      await this.#discard(kind);
      throw toAppendError(mapKafkaError(error, "appending"), isSent && kind === "plain");
    }
  }

  async #sendPlain(
    producer: Producer,
    records: readonly OutgoingRecord[],
  ): Promise<readonly Appended[]> {
    const metadata = await producer.sendBatch({ topicMessages: this.#messages(records) });
    return this.#listAppended(metadata, records);
  }

  async #sendTransaction(
    producer: Producer,
    records: readonly OutgoingRecord[],
  ): Promise<readonly Appended[]> {
    const transaction = await producer.transaction();
    const appended: Appended[] = [];
    try {
      for (const round of splitIntoSends(records)) {
        const metadata = await transaction.sendBatch({ topicMessages: this.#messages(round) });
        appended.push(...this.#listAppended(metadata, round));
      }
    } catch (error) {
      // Without an abort readers would wait until the broker ends the transaction.
      await transaction.abort().catch(() => undefined);
      throw error;
    }
    try {
      await transaction.commit();
    } catch (cause) {
      const text = "appending: it is not known whether the transaction was committed";
      throw new RetryableError("outcome_unknown", text, { cause });
    }
    await this.#untilVisible(records, appended);
    return appended;
  }

  async #untilVisible(
    records: readonly OutgoingRecord[],
    appended: readonly Appended[],
  ): Promise<void> {
    const last = new Map<string, number>();
    for (const [index, { topic, partition }] of records.entries()) {
      last.set(`${partition} ${topic}`, index);
    }
    const waits = [...last.values()].map(async (index) => {
      const record = records[index];
      const at = appended[index];
      if (record !== undefined && at !== undefined) await this.#options.untilVisible(record, at);
    });
    await Promise.all(waits);
  }

  #messages(records: readonly OutgoingRecord[]): ReturnType<typeof toTopicMessages> {
    return toTopicMessages(records, this.#options.names);
  }

  #listAppended(
    metadata: readonly RecordMetadata[],
    records: readonly OutgoingRecord[],
  ): readonly Appended[] {
    const sent = new SentRecords(metadata, this.#options.names);
    return records.map((record) => sent.take(record));
  }

  async #producer(kind: Kind): Promise<Producer> {
    const existing = this.#producers[kind];
    if (existing !== undefined) return existing;
    const producer = this.#options.kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: () => partitionOf,
      retry: RETRY,
      ...(kind === "plain"
        ? {}
        : {
            transactionalId: this.#transactionalId,
            transactionTimeout: TRANSACTION_TIMEOUT_MS,
          }),
    });
    // Stored before it connects: a producer that gets no id has connections to close all the same.
    this.#producers[kind] = producer;
    await producer.connect();
    return producer;
  }

  async #discard(kind: Kind): Promise<void> {
    const producer = this.#producers[kind];
    delete this.#producers[kind];
    await producer?.disconnect().catch(() => undefined);
  }
}

function partitionOf({ message }: { message: { partition?: number } }): number {
  if (message.partition === undefined) {
    throw new FatalError("unexpected", "a record without a partition was to be sent");
  }
  return message.partition;
}

/**
 * Nobody else uses the producer's id, so "fenced" is not final here: it is a failure with an
 * unknown outcome.
 * @param mayStay true where the send was no transaction, so any attempt may have been written.
 */
function toAppendError(error: PipelineError, mayStay: boolean): PipelineError {
  const isOpen = error instanceof FencedError || (mayStay && error.code === "log_unavailable");
  if (!isOpen) return error;
  return new RetryableError("outcome_unknown", error.message, { cause: error });
}

/** The send was larger than a topic takes, and no answer says which other records were written. */
function toPartialError(cause: PipelineError): PipelineError {
  const text = `${cause.message}; what was sent together with it may have been written`;
  return new RetryableError("outcome_unknown", text, { cause });
}

function chooseKind(group: readonly Pending[]): Kind {
  const alone = group.every(
    ({ records }) => splitIntoSends(records).length === 1 && isOnePartition(records),
  );
  return alone ? "plain" : "transactional";
}

function isOnePartition(records: readonly OutgoingRecord[]): boolean {
  const [first] = records;
  return records.every(
    ({ topic, partition }) => topic === first?.topic && partition === first.partition,
  );
}

/** Splits records, in order, into sends that hold at most one batch for each topic-partition. */
function splitIntoSends(
  records: readonly OutgoingRecord[],
): readonly (readonly OutgoingRecord[])[] {
  const rounds: OutgoingRecord[][] = [];
  let sizes = new Map<string, number>();
  for (const record of records) {
    const round = rounds[rounds.length - 1];
    const size = addSizes(sizes, [record]);
    if (round === undefined || size > BATCH_BYTES_MAX) {
      sizes = new Map();
      addSizes(sizes, [record]);
      rounds.push([record]);
    } else {
      round.push(record);
    }
  }
  return rounds;
}

/** Adds the sizes of records to the totals of their topic-partitions; returns the largest total. */
function addSizes(sizes: Map<string, number>, records: readonly OutgoingRecord[]): number {
  let largest = 0;
  for (const { topic, partition, key, value, headers = [] } of records) {
    const partitionKey = `${partition} ${topic}`;
    let bytes = RECORD_OVERHEAD_BYTES + (value?.length ?? 0);
    bytes += typeof key === "string" ? Buffer.byteLength(key) : (key?.length ?? 0);
    for (const header of headers) bytes += 2 * (header.name.length + header.value.length);
    const size = (sizes.get(partitionKey) ?? 0) + bytes;
    sizes.set(partitionKey, size);
    largest = Math.max(largest, size);
  }
  return largest;
}
