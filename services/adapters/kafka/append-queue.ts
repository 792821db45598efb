/**
 * Appends of writers outside the gate.
 *
 * APPEND-1 one send at a time: kafkajs can lose a record and double another where two sends share a
 *    producer. What comes up meanwhile goes out together in the next one.
 * APPEND-2 what fits into one batch of one topic-partition is together or not at all by itself; everything
 *    else goes out in a transaction.
 * APPEND-3 what is too large for its topic goes alone: the broker refuses that part of a send only, and what
 *    else is in it may be written.
 * APPEND-4 after any failure the producer is thrown away: what it thinks of its sequence may be wrong.
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
import { giveUp, RETRY } from "./client.ts";
import { mapKafkaError } from "./map-error.ts";
import type { TopicNames } from "./topics/topic-names.ts";
import { SentRecords, toTopicMessages } from "./transactions/outgoing-messages.ts";

type Pending = {
  readonly records: readonly OutgoingRecord[];
  readonly resolve: (appended: readonly Appended[]) => void;
  readonly reject: (error: unknown) => void;
};

type Kind = "plain" | "transactional";

/** What a batch of one topic-partition holds at most; the default of Kafka takes 1 MiB. */
const BATCH_BYTES_MAX = 900 * 1024;
const RECORD_OVERHEAD_BYTES = 32;
const GROUP_RECORDS_MAX = 2_000;
const TRANSACTION_TIMEOUT_MS = 10_000;

export type AppendQueueOptions = {
  readonly kafka: Kafka;
  readonly names: TopicNames;
  /** Begins the transactional id, which is new in each process: nobody takes it over. */
  readonly clientId: string;
  /** Resolves once what was committed there can be read: a commit is answered before that. */
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

  /** Sends what is pending, then lets the producers go. */
  async close(): Promise<void> {
    await this.#running;
    await Promise.all([this.#discard("plain"), this.#discard("transactional")]);
  }

  /** Waits for nobody: what is pending fails, and the client that it sends with is given up. */
  abandon(): void {
    const error = new FatalError("closed", "the log is closed");
    for (const { reject } of this.#pending.splice(0)) reject(error);
    void this.#discard("plain");
    void this.#discard("transactional");
    giveUp(this.#options.kafka);
  }

  async #run(): Promise<void> {
    // Calls of one turn of the event loop share a send.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#pending.length > 0) await this.#sendGroup(this.#nextGroup());
    this.#running = undefined;
  }

  /** Calls that can share a send: together no more than one batch for each topic-partition. */
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
    const kind = kindOf(group);
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
        // One of them is too large, and none was written; the others need not suffer for it.
        for (const one of group) await this.#sendGroup([one]);
        return;
      }
      const reason = isTooLarge ? partly(error) : error;
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
      throw ofAppend(mapKafkaError(error, "appending"), isSent && kind === "plain");
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
      for (const round of roundsOf(records)) {
        const metadata = await transaction.sendBatch({ topicMessages: this.#messages(round) });
        appended.push(...this.#listAppended(metadata, round));
      }
    } catch (error) {
      // Otherwise readers would wait for the broker to end it.
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
    // Before it is connected: where it gets no id it has connections all the same.
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
 * Nobody else has the producer's id: being fenced is only a failure here, whose outcome is open.
 * @param mayStay what was sent is not part of a transaction: of several attempts each may have been written.
 */
function ofAppend(error: PipelineError, mayStay: boolean): PipelineError {
  const isOpen = error instanceof FencedError || (mayStay && error.code === "log_unavailable");
  if (!isOpen) return error;
  return new RetryableError("outcome_unknown", error.message, { cause: error });
}

/** A topic takes less than we send at once: which of its neighbours were written nobody says. */
function partly(cause: PipelineError): PipelineError {
  const text = `${cause.message}; what was sent together with it may have been written`;
  return new RetryableError("outcome_unknown", text, { cause });
}

function kindOf(group: readonly Pending[]): Kind {
  const alone = group.every(
    ({ records }) => roundsOf(records).length === 1 && isOnePartition(records),
  );
  return alone ? "plain" : "transactional";
}

function isOnePartition(records: readonly OutgoingRecord[]): boolean {
  const [first] = records;
  return records.every(
    ({ topic, partition }) => topic === first?.topic && partition === first.partition,
  );
}

/** Sends in order, each with no more than one batch for each topic-partition. */
function roundsOf(records: readonly OutgoingRecord[]): readonly (readonly OutgoingRecord[])[] {
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

/** Adds the sizes of records to those of their topic-partitions; returns the largest of these. */
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
