/**
 * Commits the batches of one partition: one transaction each, records and group offsets together.
 *
 * WRITER-1 one batch at a time, one send in flight, ever: kafkajs loses a record and doubles another when two
 *    sends of one producer meet a time-out (KAFKA-6).
 * WRITER-2 after anything but a clean commit the producer is thrown away; nothing is tried again with it (KAFKA-4).
 * WRITER-3 what was sent is committed only if every topic-partition acknowledged it: kafkajs drops silently
 *    what has a new leader while it is sent (KAFKA-7).
 * WRITER-4 where the journal was written by somebody else meanwhile, nothing is written any more: who decides a
 *    partition decides it alone.
 */
import type { Producer, RecordMetadata, TopicMessages, Transaction } from "kafkajs";
import { FatalError, FencedError } from "../../../runtime/errors.ts";
import type {
  Appended,
  CommitBatch,
  CommitOutcome,
  OutgoingRecord,
  PartitionWriter,
} from "../../../runtime/ports.ts";
import type { InputTopic, PerInput } from "../../../runtime/topics.ts";
import { isFencedCode, isTooLargeCode, mapKafkaError, protocolCode } from "../map-error.ts";
import type { Grant, GroupMembership } from "../membership/group-membership.ts";
import type { TopicNames } from "../topics/topic-names.ts";
import { SentRecords, toTopicMessages } from "./outgoing-messages.ts";
import type { SoleWriter } from "./sole-writer.ts";

export type WriterContext = {
  readonly names: TopicNames;
  readonly group: string;
  readonly positions: readonly InputTopic[];
  /** Most bytes of a record batch, by the topic's name (KAFKA-10). */
  readonly batchBytesMax: (name: string) => number;
  /** The broker ends a transaction after this time: whatever takes longer has failed. */
  readonly transactionTimeoutMs: number;
  readonly membership: Pick<GroupMembership, "confirm" | "isCurrent">;
  /** Told of work that came after its number had gone (KAFKA-13). */
  readonly onLateDrop: () => void;
  /** Told that the grant's number was taken over elsewhere, and when that was noticed (KAFKA-5). */
  readonly onFenced: (grant: Grant, atMs: number) => void;
  readonly recordedOffsets: (partition: number) => Promise<PerInput>;
  /** Recorded with each offset; null: nothing is. */
  readonly offsetMetadata: string | null;
};

export type WriterParts = {
  readonly producer: Producer;
  readonly grant: Grant;
  readonly sole: SoleWriter | null;
  readonly isLatest: () => boolean;
};

/** Answers to the offsets of a transaction that say that nothing happened (KAFKA-8). */
const NOT_COORDINATOR = 16;
const CONCURRENT_TRANSACTIONS = 51;
const OFFSETS_RETRY_MS = 1;
const CLOSE_MS_MAX = 1_000;
/** What a record takes beside key, value and headers, at most; and a batch beside its records. */
const RECORD_EXTRA_BYTES = 40;
const BATCH_EXTRA_BYTES = 61;

export class TransactionalWriter implements PartitionWriter {
  readonly partition: number;
  readonly #context: WriterContext;
  readonly #producer: Producer;
  readonly #grant: Grant;
  readonly #isLatest: () => boolean;
  readonly #sole: SoleWriter | null;
  #busy = false;
  #usedUp = false;

  /**
   * @param producer initialised: its id is fenced against every producer before it.
   * @param sole told of what is written; null: nobody looks whether others write, too.
   * @param isLatest whether no later take-over of the number has begun in this process.
   */
  constructor(context: WriterContext, { producer, grant, sole, isLatest }: WriterParts) {
    this.#context = context;
    this.#isLatest = isLatest;
    this.#producer = producer;
    this.#grant = grant;
    this.#sole = sole;
    this.partition = grant.partition;
  }

  recordedOffsets(): Promise<PerInput> {
    return this.#context.recordedOffsets(this.partition);
  }

  async commit(batch: CommitBatch): Promise<CommitOutcome> {
    if (this.#busy) throw new FatalError("unexpected", "two commits of one writer at once");
    if (this.#usedUp) {
      return failed(new Error("the producer was thrown away after an error"), false);
    }
    this.#busy = true;
    try {
      return await this.#commit(batch);
    } finally {
      this.#busy = false;
    }
  }

  async close(): Promise<void> {
    this.#sole?.close();
    const gone = this.#throwAway();
    // Where the cluster does not answer, the connection is of no use to anybody either.
    await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, CLOSE_MS_MAX))]);
  }

  #throwAway(): Promise<void> {
    this.#usedUp = true;
    this.#sole?.close();
    return this.#producer.disconnect().catch(() => undefined);
  }

  async #commit(batch: CommitBatch): Promise<CommitOutcome> {
    const { membership, onLateDrop } = this.#context;
    if (!membership.isCurrent(this.#grant)) {
      onLateDrop();
      throw new FencedError(`partition ${this.partition} is no longer ours`);
    }
    if (this.#sole?.isAlone === false)
      throw new FatalError("role_taken", notAlone(this.partition, this.#context));
    const topicMessages = this.#messagesOf(batch.records);
    const large = topicMessages.find((one) => this.#isTooLarge(one));
    if (large !== undefined) return failed(new Error(`too large for \`${large.topic}\``), true);
    const topics = topicMessages.map(({ topic }) => topic);
    let transaction: Transaction;
    let appended: readonly Appended[];
    try {
      transaction = await this.#within(this.#producer.transaction());
      const metadata = await this.#within(this.#write(transaction, topicMessages, batch.consumed));
      appended = this.#listAppended(batch.records, metadata);
    } catch (error) {
      // The end of the transaction was not sent: nothing of it can become visible any more.
      return this.#ended(error, topics, (cause) =>
        failed(cause, isTooLargeCode(protocolCode(cause))),
      );
    }
    try {
      await this.#within(transaction.commit());
    } catch (error) {
      return this.#ended(error, topics, (cause) => ({ type: "unknown", error: cause }));
    }
    this.#sole?.wrote(batch.records, appended);
    return { type: "committed", appended };
  }

  /** Records and offsets side by side; `commit` comes after both (KAFKA-8). */
  async #write(
    transaction: Transaction,
    topicMessages: TopicMessages[],
    consumed: PerInput,
  ): Promise<readonly RecordMetadata[]> {
    const results = await Promise.allSettled([
      this.#send(transaction, topicMessages),
      this.#sendOffsets(transaction, consumed),
    ]);
    const [records] = results;
    for (const result of results) {
      if (result.status === "rejected") throw result.reason;
    }
    return records.status === "fulfilled" ? records.value : [];
  }

  async #send(
    transaction: Transaction,
    topicMessages: TopicMessages[],
  ): Promise<readonly RecordMetadata[]> {
    if (topicMessages.length === 0) return [];
    return transaction.sendBatch({ acks: -1, topicMessages });
  }

  async #sendOffsets(transaction: Transaction, consumed: PerInput): Promise<void> {
    const { names, group, positions, transactionTimeoutMs } = this.#context;
    const { offsetMetadata: metadata } = this.#context;
    if (positions.length === 0) return;
    const topics = positions.map((topic) => ({
      topic: names[topic],
      // kafkajs hands the metadata on, though its types do not say so.
      partitions: [{ partition: this.partition, offset: String(consumed[topic]), metadata }],
    }));
    const untilMs = Date.now() + transactionTimeoutMs;
    for (;;) {
      try {
        return await transaction.sendOffsets({ consumerGroupId: group, topics });
      } catch (error) {
        const code = protocolCode(error);
        const nothing = code === CONCURRENT_TRANSACTIONS || code === NOT_COORDINATOR;
        if (!nothing || Date.now() >= untilMs || this.#usedUp) throw error;
        await new Promise((resolve) => setTimeout(resolve, OFFSETS_RETRY_MS));
      }
    }
  }

  /** @throws where a record was not acknowledged (KAFKA-7), or carries its sender's time. */
  #listAppended(
    records: readonly OutgoingRecord[],
    metadata: readonly RecordMetadata[],
  ): readonly Appended[] {
    const sent = new SentRecords(metadata, this.#context.names);
    return records.map((record) => sent.take(record));
  }

  /** What an error means, once the producer has been thrown away (KAFKA-4, KAFKA-5). */
  async #ended(
    error: unknown,
    topics: readonly string[],
    otherwise: (cause: Error) => CommitOutcome,
  ): Promise<CommitOutcome> {
    const atMs = Date.now();
    const { membership } = this.#context;
    // Not waited for: what is in flight may go unanswered for long.
    void this.#throwAway();
    if (error instanceof FatalError) throw error;
    const cause = error instanceof Error ? error : new Error(String(error));
    if (isFencedCode(protocolCode(cause))) {
      const isOurs = this.#isLatest() && (await membership.confirm(this.#grant, atMs));
      if (!isOurs) {
        // Refused, so not written; and the number is another's now.
        this.#context.onFenced(this.#grant, atMs);
        throw new FencedError(`another gate has taken over: ${cause.message}`, { cause });
      }
    }
    const doing = `committing partition ${this.partition} of ${topics.join(", ")}`;
    const mapped = mapKafkaError(cause, doing);
    return mapped instanceof FatalError ? Promise.reject(mapped) : otherwise(cause);
  }

  #messagesOf(records: readonly OutgoingRecord[]): TopicMessages[] {
    const stray = records.find(({ partition }) => partition !== this.partition);
    if (stray !== undefined) {
      throw new FatalError("unexpected", `a record for another partition: ${stray.partition}`);
    }
    return toTopicMessages(records, this.#context.names);
  }

  #isTooLarge({ topic, messages }: TopicMessages): boolean {
    let bytes = BATCH_EXTRA_BYTES;
    for (const { key, value, headers } of messages) {
      bytes += RECORD_EXTRA_BYTES + lengthOf(key) + lengthOf(value);
      if (headers === undefined) continue;
      for (const [name, header] of Object.entries(headers)) {
        const values = Array.isArray(header) ? header : [header];
        for (const one of values) bytes += RECORD_EXTRA_BYTES + name.length * 3 + lengthOf(one);
      }
    }
    return bytes > this.#context.batchBytesMax(topic);
  }

  async #within<T>(work: Promise<T>): Promise<T> {
    const { transactionTimeoutMs } = this.#context;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const error = new Error(`no answer within ${transactionTimeoutMs} ms`);
      timer = setTimeout(() => reject(error), transactionTimeoutMs);
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function notAlone(partition: number, { names, group }: WriterContext): string {
  return (
    `another gate writes the journal of partition ${partition} (\`${names.decisions}\`), so nothing is decided on it ` +
    `any more: all gates of an installation have one \`kafka.app\` and one \`kafka.group\` (here \`${group}\`); stop the ` +
    "other and see docs/operations.md, Limits"
  );
}

function failed(error: Error, oversize: boolean): CommitOutcome {
  return { type: "failed", oversize, error };
}

function lengthOf(bytes: string | Buffer | null | undefined): number {
  if (bytes === null || bytes === undefined) return 0;
  return typeof bytes === "string" ? Buffer.byteLength(bytes) : bytes.length;
}
