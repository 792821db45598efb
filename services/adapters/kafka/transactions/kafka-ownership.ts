/**
 * Takes partitions over. A new producer under the partition's transactional id fences the previous
 * owner and ends its open transaction. Only then is the end of the journal reliable (KAFKA-2).
 */
import type { Admin, Kafka, Producer } from "kafkajs";
import { FatalError, FencedError, RetryableError } from "../../../runtime/errors.ts";
import type { Log, Metrics, Ownership, PartitionWriter } from "../../../runtime/ports.ts";
import {
  INPUT_TOPICS,
  type InputTopic,
  JOURNAL_TOPIC,
  type PerInput,
} from "../../../runtime/topics.ts";
import { RETRY } from "../client.ts";
import type { ClusterLink } from "../cluster-link.ts";
import { mapKafkaError } from "../map-error.ts";
import type { Grant, GroupMembership } from "../membership/group-membership.ts";
import { SharedAdmin } from "../topics/shared-admin.ts";
import {
  assertSameLife,
  type LivingTopics,
  readTopicLife,
  writeTopicLife,
} from "../topics/topic-life.ts";
import type { TopicNames } from "../topics/topic-names.ts";
import { SoleWriter } from "./sole-writer.ts";
import { TransactionalWriter, type WriterContext } from "./transactional-writer.ts";
import { type UnfinishedContext, UnfinishedTransactions } from "./unfinished-transactions.ts";

export type OwnershipSettings = {
  /** First part of the transactional ids; each installation has its own. */
  readonly app: string;
  readonly group: string;
  readonly transactionTimeoutMs: number;
};

export type OwnershipContext = {
  readonly settings: OwnershipSettings;
  readonly names: TopicNames;
  /** Creates a client for each producer, and one for requests. */
  readonly newKafka: () => Kafka;
  readonly membership: Pick<GroupMembership, "confirm" | "grantOf" | "isCurrent">;
  /** Returns `max.message.bytes` of a topic, by its name. */
  readonly messageBytesMax: (name: string) => number;
  readonly metrics: Metrics;
  /**
   * Topics whose positions each transaction records, which needs READ on them. Default: the inputs.
   */
  readonly positions?: readonly InputTopic[];
  /** The topics of the offsets, to compare with the recorded topics; absent: no comparison. */
  readonly topics?: LivingTopics;
  /**
   * What unfinished-transactions.ts needs to end open transactions; absent: none are looked for.
   */
  readonly written?: Pick<UnfinishedContext, "topics" | "writtenWith" | "logger"> & {
    readonly newLink: () => ClusterLink;
  };
  /** Read to find records of other writers (sole-writer.ts); absent: no search. */
  readonly journal?: Pick<Log, "endOffset" | "read" | "startOffset">;
};

/**
 * Share of `max.message.bytes` that a batch may use, since the broker measures batches differently.
 */
const BYTES_SHARE = 0.9;

type FetchedOffsets = Awaited<ReturnType<Admin["fetchOffsets"]>>;

const OFFSET_REQUESTS_MAX = 20;
const OFFSET_PAUSE_MS = 100;

export class KafkaOwnership implements Ownership {
  readonly #context: OwnershipContext;
  readonly #writer: WriterContext;
  readonly #latest = new Map<number, symbol>();
  /** When another gate fenced us under a grant that the group has not taken from us yet. */
  readonly #worthless = new WeakMap<Grant, number>();
  readonly #unfinished: UnfinishedTransactions | null;
  readonly #admin: SharedAdmin;

  constructor(context: OwnershipContext) {
    this.#context = context;
    const { names, settings, membership, metrics, messageBytesMax, topics } = context;
    this.#admin = new SharedAdmin(context.newKafka);
    this.#writer = {
      ...{ names, membership },
      group: settings.group,
      positions: context.positions ?? INPUT_TOPICS,
      transactionTimeoutMs: settings.transactionTimeoutMs,
      batchBytesMax: (name) => Math.floor(messageBytesMax(name) * BYTES_SHARE),
      onLateDrop: () => metrics.count("late_drops"),
      onFenced: (grant, atMs) => this.#worthless.set(grant, atMs),
      recordedOffsets: (partition) => this.#recordedOffsets(partition),
      offsetMetadata: topics === undefined ? null : writeTopicLife(topics),
    };
    this.#unfinished =
      context.written === undefined ? null : this.#createUnfinished(context.written);
  }

  async takeOver(partition: number): Promise<PartitionWriter> {
    // A gate fences only for a partition that the group gave it: otherwise two owners would fence
    // each other in turn (KAFKA-5).
    const { membership } = this.#context;
    const grant = membership.grantOf(partition);
    if (grant === undefined) {
      throw new FencedError(`partition ${partition} is not ours`);
    }
    const fencedAtMs = this.#worthless.get(grant);
    if (fencedAtMs !== undefined && !(await membership.confirm(grant, fencedAtMs))) {
      throw new FencedError(`partition ${partition} was taken over by another gate`);
    }
    const takeOver = Symbol(partition);
    this.#latest.set(partition, takeOver);
    const producer = await this.#initializeProducer(partition);
    const isLatest = (): boolean => this.#latest.get(partition) === takeOver;
    try {
      const sole = await this.#createSoleWriter(partition);
      return new TransactionalWriter(this.#writer, { producer, grant, sole, isLatest });
    } catch (error) {
      await producer.disconnect().catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#admin.close(), this.#unfinished?.close()]);
  }

  #createUnfinished({
    newLink,
    ...written
  }: NonNullable<OwnershipContext["written"]>): UnfinishedTransactions {
    const { names, settings } = this.#context;
    return new UnfinishedTransactions({
      ...{ names, ...written, link: newLink() },
      transactionTimeoutMs: settings.transactionTimeoutMs,
      recordedOffsets: (partition) => this.#recordedOffsets(partition),
    });
  }

  /**
   * To be called after fencing: records behind the journal's end are then ours, or come from a gate
   * of another app or group.
   */
  async #createSoleWriter(partition: number): Promise<SoleWriter | null> {
    const { journal } = this.#context;
    if (journal === undefined) return null;
    const end = await journal.endOffset(JOURNAL_TOPIC, partition);
    return new SoleWriter({ journal, partition, end });
  }

  /** Fences the previous owner, and ends transactions that the cluster has left open. */
  async #initializeProducer(partition: number): Promise<Producer> {
    const producer = await this.#fence(partition);
    const unfinished = this.#unfinished;
    try {
      if (unfinished === null || !(await unfinished.hasOpen(partition))) return producer;
      await unfinished.end(partition, this.#transactionalId(partition));
    } catch (error) {
      await producer.disconnect().catch(() => undefined);
      throw error;
    }
    // Ending the transaction has fenced this producer as well.
    await producer.disconnect().catch(() => undefined);
    return this.#fence(partition);
  }

  #transactionalId(partition: number): string {
    const { settings } = this.#context;
    // KAFKA-1: offset commits carry no group generation, so the producer's epoch alone fences.
    return [settings.app, settings.group, partition].join(".");
  }

  async #fence(partition: number): Promise<Producer> {
    const { settings, newKafka } = this.#context;
    const producer = newKafka().producer({
      transactionalId: this.#transactionalId(partition),
      idempotent: true,
      maxInFlightRequests: 1,
      transactionTimeout: settings.transactionTimeoutMs,
      retry: RETRY,
      allowAutoTopicCreation: false,
      createPartitioner: () => partitionOfMessage,
    });
    try {
      await producer.connect();
      // kafkajs requests the producer id, which fences, with the first transaction. An empty one
      // sends nothing else (KAFKA-2).
      const empty = await producer.transaction();
      await empty.abort();
      return producer;
    } catch (error) {
      await producer.disconnect().catch(() => undefined);
      throw mapKafkaError(error, `taking over partition ${partition}`);
    }
  }

  async #recordedOffsets(partition: number): Promise<PerInput> {
    const { names, settings } = this.#context;
    const topics = INPUT_TOPICS.map((topic) => names[topic]);
    try {
      const offsets = await this.#admin.ask((admin) =>
        fetchOffsetsOfAll(admin, settings.group, topics, partition),
      );
      this.#assertSameTopics(offsets.flatMap(({ partitions }) => partitions));
      const of = (topic: InputTopic): number => {
        const { partitions = [] } = offsets.find((one) => one.topic === names[topic]) ?? {};
        const offset = partitions.find((one) => one.partition === partition)?.offset ?? "-1";
        // -1: the group has recorded no offset yet.
        return Math.max(0, Number(offset));
      };
      return { proposals: of("proposals"), results: of("results"), verdicts: of("verdicts") };
    } catch (error) {
      throw mapKafkaError(error, `reading the offsets of group ${settings.group}`);
    }
  }

  /**
   * Checks the metadata of all partitions: an added partition has none, and must not be decided
   * either.
   */
  #assertSameTopics(recorded: readonly { readonly metadata: string | null }[]): void {
    const { topics, names } = this.#context;
    if (topics === undefined) return;
    for (const metadata of new Set(recorded.map((one) => one.metadata))) {
      const life = readTopicLife(metadata);
      if (life !== null) assertSameLife(life, topics, names);
    }
  }
}

/**
 * Fetches the offsets of all `topics`. Concurrent calls of kafkajs share one metadata request. If
 * it began before a topic was added, the answer lacks the topic, and its offset would pass for
 * "none". A repeated request knows the topic.
 */
export async function fetchOffsetsOfAll(
  admin: Pick<Admin, "fetchOffsets">,
  groupId: string,
  topics: string[],
  partition: number,
): Promise<FetchedOffsets> {
  for (let request = 1; request <= OFFSET_REQUESTS_MAX; request += 1) {
    const offsets = await admin.fetchOffsets({ groupId, topics });
    const answered = offsets.filter(({ partitions }) =>
      partitions.some((one) => one.partition === partition),
    );
    if (answered.length === topics.length) return offsets;
    await new Promise((resolve) => setTimeout(resolve, OFFSET_PAUSE_MS));
  }
  throw new RetryableError(
    "log_unavailable",
    `the brokers return no offsets of group ${groupId} for partition ${partition} of ${topics.join(", ")}`,
  );
}

/** Every message has a partition (KAFKA-9): kafkajs calls the partitioner again for a retry. */
function partitionOfMessage({
  message,
}: {
  readonly message: { readonly partition?: number };
}): number {
  if (message.partition === undefined) {
    throw new FatalError("unexpected", "a message without a partition");
  }
  return message.partition;
}
