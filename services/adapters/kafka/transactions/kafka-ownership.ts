/**
 * Takes partitions over: a new producer under the number's transactional id fences whoever had
 * it, and ends what that one had open. Only after that is the journal's end worth reading (KAFKA-2).
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
import { LeftOpen, type LeftOpenContext } from "./unfinished-transactions.ts";

export type OwnershipSettings = {
  /** First part of the transactional ids: one for each installation. */
  readonly app: string;
  readonly group: string;
  readonly transactionTimeoutMs: number;
};

export type OwnershipContext = {
  readonly settings: OwnershipSettings;
  readonly names: TopicNames;
  /** A client of their own for each producer, and one for asking. */
  readonly newKafka: () => Kafka;
  readonly membership: Pick<GroupMembership, "confirm" | "grantOf" | "isCurrent">;
  /** `max.message.bytes` of a topic, by its name. */
  readonly messageBytesMax: (name: string) => number;
  readonly metrics: Metrics;
  /** Whose positions are recorded with each transaction, which needs READ of them: the inputs by default. */
  readonly positions?: readonly InputTopic[];
  /** Whose offsets these are: compared with what was recorded. Left out: not compared. */
  readonly topics?: LivingTopics;
  /** Where owners write, and what is known of it: see left-open.ts. Left out: nobody looks. */
  readonly written?: Pick<LeftOpenContext, "topics" | "writtenWith" | "logger"> & {
    readonly newLink: () => ClusterLink;
  };
  /** Read where somebody else may have written it. Left out: nobody looks. */
  readonly journal?: Pick<Log, "endOffset" | "read" | "startOffset">;
};

/** Of what a topic takes at once, this much is used: what the broker counts is not quite what we do. */
const BYTES_SHARE = 0.9;

type FetchedOffsets = Awaited<ReturnType<Admin["fetchOffsets"]>>;

const LOOKS_MAX = 20;
const LOOK_AGAIN_MS = 100;

export class KafkaOwnership implements Ownership {
  readonly #context: OwnershipContext;
  readonly #writer: WriterContext;
  readonly #latest = new Map<number, symbol>();
  /** When a grant was found to be worthless, though the group has not told us yet. */
  readonly #worthless = new WeakMap<Grant, number>();
  readonly #leftOpen: LeftOpen | null;
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
    this.#leftOpen = context.written === undefined ? null : this.#leftOpenOf(context.written);
  }

  async takeOver(partition: number): Promise<PartitionWriter> {
    // Never at first for a number that is not ours: two owners would fence each other in turn (KAFKA-5).
    const { membership } = this.#context;
    const grant = membership.grantOf(partition);
    if (grant === undefined) {
      throw new FencedError(`partition ${partition} is not ours`);
    }
    const fencedAtMs = this.#worthless.get(grant);
    if (fencedAtMs !== undefined && !(await membership.confirm(grant, fencedAtMs))) {
      throw new FencedError(`partition ${partition} was taken over by another gate`);
    }
    const take = Symbol(partition);
    this.#latest.set(partition, take);
    const producer = await this.#initialised(partition);
    const isLatest = (): boolean => this.#latest.get(partition) === take;
    try {
      const sole = await this.#soleWriter(partition);
      return new TransactionalWriter(this.#writer, { producer, grant, sole, isLatest });
    } catch (error) {
      await producer.disconnect().catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#admin.close(), this.#leftOpen?.close()]);
  }

  #leftOpenOf({ newLink, ...written }: NonNullable<OwnershipContext["written"]>): LeftOpen {
    const { names, settings } = this.#context;
    return new LeftOpen({
      ...{ names, ...written, link: newLink() },
      transactionTimeoutMs: settings.transactionTimeoutMs,
      recordedOffsets: (partition) => this.#recordedOffsets(partition),
    });
  }

  /** After fencing: what is written from the journal's end on is ours, or of somebody who does not know of us. */
  async #soleWriter(partition: number): Promise<SoleWriter | null> {
    const { journal } = this.#context;
    if (journal === undefined) return null;
    const end = await journal.endOffset(JOURNAL_TOPIC, partition);
    return new SoleWriter({ journal, partition, end });
  }

  /** Fences, and ends what the cluster has left open. */
  async #initialised(partition: number): Promise<Producer> {
    const producer = await this.#fenced(partition);
    const leftOpen = this.#leftOpen;
    try {
      if (leftOpen === null || !(await leftOpen.isThere(partition))) return producer;
      await leftOpen.end(partition, this.#transactionalId(partition));
    } catch (error) {
      await producer.disconnect().catch(() => undefined);
      throw error;
    }
    // Ending it has fenced this one too.
    await producer.disconnect().catch(() => undefined);
    return this.#fenced(partition);
  }

  #transactionalId(partition: number): string {
    const { settings } = this.#context;
    // KAFKA-1: the group's generation does not travel with offsets; the producer's epoch alone fences.
    return [settings.app, settings.group, partition].join(".");
  }

  async #fenced(partition: number): Promise<Producer> {
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
      // kafkajs initialises with the first transaction; one that is empty sends nothing else (KAFKA-2).
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
        // -1: the group has recorded nothing yet.
        return Math.max(0, Number(offset));
      };
      return { proposals: of("proposals"), results: of("results"), verdicts: of("verdicts") };
    } catch (error) {
      throw mapKafkaError(error, `reading the offsets of group ${settings.group}`);
    }
  }

  /** Of all partitions: one that was added has nothing recorded, and must not be decided either. */
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
 * kafkajs shares a look at the topics that is under way among all who ask. One that began before a topic was asked for
 * leaves that out, and then no partition of it is asked about: its offset would pass for none. It is known the next time.
 */
export async function fetchOffsetsOfAll(
  admin: Pick<Admin, "fetchOffsets">,
  groupId: string,
  topics: string[],
  partition: number,
): Promise<FetchedOffsets> {
  for (let look = 1; look <= LOOKS_MAX; look += 1) {
    const offsets = await admin.fetchOffsets({ groupId, topics });
    const answered = offsets.filter(({ partitions }) =>
      partitions.some((one) => one.partition === partition),
    );
    if (answered.length === topics.length) return offsets;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  throw new RetryableError(
    "log_unavailable",
    `the brokers do not tell the offsets of group ${groupId} for partition ${partition} of ${topics.join(", ")}`,
  );
}

/** Every message names its partition (KAFKA-9): on a second try kafkajs asks again. */
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
