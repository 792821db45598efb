/**
 * Commits the batches of one partition. Each batch is one transaction of records and group offsets.
 *
 * WRITER-1 The writer has one batch and one send in flight: when two sends of a producer run into a
 *    time-out, kafkajs loses a record and writes another twice (KAFKA-6).
 * WRITER-2 After anything but a clean commit the producer is discarded and never used again
 *    (KAFKA-4).
 * WRITER-3 A transaction is committed only if every topic-partition acknowledged its records:
 *    kafkajs silently drops records whose leader moves during the send (KAFKA-7).
 * WRITER-4 Once another writer has written to the journal, nothing more is written: a partition has
 *    one gate that decides.
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
import { type InputTopic, isInputTopic, type PerInput } from "../../../runtime/topics.ts";
import { withTimeout } from "../../system/with-timeout.ts";
import { isFencedCode, isTooLargeCode, mapKafkaError, protocolCode } from "../map-error.ts";
import type { Grant, GroupMembership } from "../membership/group-membership.ts";
import type { TopicNames } from "../topics/topic-names.ts";
import { SentRecords, toTopicMessages } from "./outgoing-messages.ts";
import type { SoleWriter } from "./sole-writer.ts";

export type WriterContext = {
  readonly names: TopicNames;
  readonly group: string;
  readonly positions: readonly InputTopic[];
  /** Returns the size limit of a record batch, by the topic's name (KAFKA-10). */
  readonly batchBytesMax: (name: string) => number;
  /** The broker aborts a transaction after this time, so longer work counts as failed. */
  readonly transactionTimeoutMs: number;
  readonly membership: Pick<GroupMembership, "confirm" | "isCurrent">;
  /** Called for a commit that came after its partition was taken away (KAFKA-13). */
  readonly onLateDrop: () => void;
  /** Called when another gate has taken the grant's partition over, with the time (KAFKA-5). */
  readonly onFenced: (grant: Grant, atMs: number) => void;
  readonly recordedOffsets: (partition: number) => Promise<PerInput>;
  /** Recorded with each offset; null: no metadata. */
  readonly offsetMetadata: string | null;
};

export type WriterParts = {
  readonly producer: Producer;
  readonly grant: Grant;
  readonly sole: SoleWriter | null;
  readonly isLatest: () => boolean;
};

/** Error codes of a request to add offsets that had no effect, so it can be repeated (KAFKA-8). */
const NOT_COORDINATOR = 16;
const CONCURRENT_TRANSACTIONS = 51;
const OFFSETS_RETRY_MS = 1;
const CLOSE_MS_MAX = 1_000;
/** Most bytes of a record beside key, value and headers, and of a batch beside its records. */
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
  #isDiscarded = false;

  /**
   * @param producer a producer that has fenced all earlier ones of its id.
   * @param sole detects other writers; null: no detection.
   * @param isLatest true while this process has begun no later take-over of the partition.
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
    if (this.#isDiscarded) {
      return failed(new Error("the producer was discarded after an error"), false);
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
    const discarded = this.#discard();
    // Where the cluster does not answer, nothing is gained by a longer wait.
    await Promise.race([discarded, new Promise((resolve) => setTimeout(resolve, CLOSE_MS_MAX))]);
  }

  #discard(): Promise<void> {
    this.#isDiscarded = true;
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
      throw new FatalError("role_taken", describeOtherWriter(this.partition, this.#context));
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
      // No commit was sent, so no record of the transaction can become visible.
      return this.#ended(error, topics, (cause) =>
        failed(cause, isTooLargeCode(protocolCode(cause))),
      );
    }
    try {
      await this.#within(transaction.commit());
    } catch (error) {
      return this.#ended(error, topics, (cause) => ({ type: "unknown", error: cause }));
    }
    this.#sole?.noteCommit(batch.records, appended);
    return { type: "committed", appended };
  }

  /** Sends records and offsets concurrently; the commit follows both (KAFKA-8). */
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
      // kafkajs passes the metadata on, though its types do not have it.
      partitions: [{ partition: this.partition, offset: String(consumed[topic]), metadata }],
    }));
    const untilMs = Date.now() + transactionTimeoutMs;
    for (;;) {
      try {
        return await transaction.sendOffsets({ consumerGroupId: group, topics });
      } catch (error) {
        const code = protocolCode(error);
        const hadNoEffect = code === CONCURRENT_TRANSACTIONS || code === NOT_COORDINATOR;
        if (!hadNoEffect || Date.now() >= untilMs || this.#isDiscarded) throw error;
        await new Promise((resolve) => setTimeout(resolve, OFFSETS_RETRY_MS));
      }
    }
  }

  /**
   * @throws PipelineError where a record was not acknowledged (KAFKA-7), or has its sender's time.
   */
  #listAppended(
    records: readonly OutgoingRecord[],
    metadata: readonly RecordMetadata[],
  ): readonly Appended[] {
    const sent = new SentRecords(metadata, this.#context.names);
    return records.map((record) => sent.take(record));
  }

  /** Discards the producer and maps the error to an outcome (KAFKA-4, KAFKA-5). */
  async #ended(
    error: unknown,
    topics: readonly string[],
    otherwise: (cause: Error) => CommitOutcome,
  ): Promise<CommitOutcome> {
    const atMs = Date.now();
    const { membership } = this.#context;
    // Not awaited: requests in flight may stay unanswered for long.
    void this.#discard();
    if (error instanceof FatalError) throw error;
    const cause = error instanceof Error ? error : new Error(String(error));
    if (isFencedCode(protocolCode(cause))) {
      const isOurs = this.#isLatest() && (await membership.confirm(this.#grant, atMs));
      if (!isOurs) {
        // The broker refused the request, so nothing was written, and another gate has the
        // partition.
        this.#context.onFenced(this.#grant, atMs);
        throw new FencedError(`another gate has taken over: ${cause.message}`, { cause });
      }
    }
    const doing = `committing partition ${this.partition} of ${topics.join(", ")}`;
    const mapped = mapKafkaError(cause, doing);
    return mapped instanceof FatalError ? Promise.reject(mapped) : otherwise(cause);
  }

  #messagesOf(records: readonly OutgoingRecord[]): TopicMessages[] {
    const stray = records.find(
      ({ topic, partition }) => partition !== this.partition && !isInputTopic(topic),
    );
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

  #within<T>(work: Promise<T>): Promise<T> {
    return withTimeout(work, this.#context.transactionTimeoutMs);
  }
}

function describeOtherWriter(partition: number, { names, group }: WriterContext): string {
  return (
    `another gate writes the journal of partition ${partition} (\`${names.decisions}\`), so this gate decides nothing ` +
    `more on it: all gates of an installation must have one \`kafka.app\` and one \`kafka.group\` (here \`${group}\`); ` +
    "stop the other gate and see docs/operations.md, Limits"
  );
}

function failed(error: Error, oversize: boolean): CommitOutcome {
  return { type: "failed", oversize, error };
}

function lengthOf(bytes: string | Buffer | null | undefined): number {
  if (bytes === null || bytes === undefined) return 0;
  return typeof bytes === "string" ? Buffer.byteLength(bytes) : bytes.length;
}
