/**
 * Defect: Four faults of one function.
 * 1. Where one of several brokers refuses its part of a send, kafkajs repeats all parts without an
 *    answer, also those that other brokers are still writing, with new sequence numbers. Their
 *    records are written twice.
 * 2. It stores answers by broker: a partition whose leader moves during the send is dropped or
 *    written twice.
 * 3. It reconnects a producer that its user has disconnected, to go on with a send.
 * 4. After a send that failed for good it reuses sequence numbers that brokers may have seen; they
 *    drop the next send as a repetition.
 * Upstream: https://github.com/tulios/kafkajs/issues/1303; background in #598, #1050 and #1172.
 * Patch:
 * 1. An attempt ends when each broker has answered or failed; repeated parts have the same
 *    sequence.
 * 2. Answers are stored by partition, and a partition without an answer is an error.
 * 3. A send of a disconnected producer ends.
 * 4. After a send that failed for good the producer sends nothing more.
 */
import { groupByPartition } from "./group-by-partition.ts";

type Message = object;
type Entry = {
  readonly partition: number;
  readonly messages: readonly Message[];
  firstSequence: number;
};
type TopicData = { readonly topic: string; readonly partitions: Entry[] };
type Metadata = { readonly topicName: string; readonly partition: number };

type Broker = {
  readonly nodeId: number | string;
  produce(request: object): Promise<{
    readonly topics: readonly {
      readonly topicName: string;
      readonly partitions: readonly { readonly partition: number }[];
    }[];
  }>;
};

type Cluster = {
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  refreshMetadataIfNecessary(): Promise<void>;
  refreshMetadata(): Promise<void>;
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  isConnected(): boolean;
  removeBroker(address: { readonly host: unknown; readonly port: unknown }): void;
  findTopicPartitionMetadata(topic: string): readonly object[];
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Record<string, number[]>;
  findBroker(of: { readonly nodeId: string }): Promise<Broker>;
};

type EosManager = {
  isTransactional(): boolean;
  getTransactionalId(): string;
  getProducerId(): unknown;
  getProducerEpoch(): number;
  addPartitionsToTransaction(topics: readonly TopicData[]): Promise<void>;
  getSequence(topic: string, partition: number): number;
  updateSequence(topic: string, partition: number, increment: number): void;
  acquireBrokerLock(broker: Broker): Promise<void>;
  releaseBrokerLock(broker: Broker): void;
};

type Retry = (bail: (error: unknown) => void, count: number, timeMs: number) => Promise<unknown>;

export type SenderParts = {
  readonly cluster: Cluster;
  readonly eosManager: EosManager;
  readonly partitioner: Parameters<typeof groupByPartition<Message>>[0]["partitioner"];
  readonly retrier: (attempt: Retry) => Promise<unknown>;
  readonly logger: { error(message: string, extra: object): void };
};

type Batch = {
  readonly acks: number;
  readonly timeout?: number;
  readonly compression?: number;
  readonly topicMessages: readonly {
    readonly topic: string;
    readonly messages: readonly Message[];
  }[];
};

type Errors = { readonly KafkaJSMetadataNotLoaded: new (message: string) => Error };
type ProtocolErrors = { readonly staleMetadata: (error: unknown) => boolean };

/** Errors after which kafkajs refreshes its metadata. */
const REFRESH_AFTER: readonly unknown[] = [
  "KafkaJSMetadataNotLoaded",
  "KafkaJSConnectionError",
  "KafkaJSConnectionClosedError",
];

export function sendOnceEach(
  errors: Errors,
  protocol: ProtocolErrors,
  isEnded: (cluster: object) => boolean,
) {
  const failed = new WeakSet<EosManager>();
  return (parts: SenderParts) =>
    async (batch: Batch): Promise<unknown> => {
      const { cluster, eosManager, logger } = parts;
      if (failed.has(eosManager)) {
        throw new Error("an earlier send of this producer failed: create a new producer");
      }
      const sending = new Sending(parts, batch, errors);
      const attempt = (): Promise<unknown> => {
        if (isEnded(cluster)) throw new Error("the producer was disconnected");
        return sending.attempt();
      };
      const sent = parts.retrier(async (bail, retryCount, retryTime) => {
        try {
          return await attempt();
        } catch (error) {
          logger.error(`Failed to send messages: ${textOf(error)}`, { retryCount, retryTime });
          const mayAgain = isEnded(cluster)
            ? await endAgain(cluster)
            : await prepareAnother(cluster, error, protocol);
          if (mayAgain) throw error;
          bail(error);
          return undefined;
        }
      });
      return sent.catch((error: unknown) => {
        if (sending.hasFailed) failed.add(eosManager);
        throw error;
      });
    };
}

class Sending {
  readonly #parts: SenderParts;
  readonly #batch: Batch;
  readonly #errors: Errors;
  /** Messages by topic and partition. Grouped once: a second call of the partitioner may differ. */
  #groups: ReadonlyMap<string, Record<string, Message[]>> | undefined;
  readonly #answers = new Map<string, Metadata>();
  /** True where at least one produce request failed. */
  hasFailed = false;

  constructor(parts: SenderParts, batch: Batch, errors: Errors) {
    this.#parts = parts;
    this.#batch = batch;
    this.#errors = errors;
  }

  /**
   * Sends to all partitions without an answer. Returns the answers once every partition has one.
   */
  async attempt(): Promise<readonly Metadata[]> {
    const { cluster } = this.#parts;
    await cluster.addMultipleTargetTopics(this.#batch.topicMessages.map(({ topic }) => topic));
    await cluster.refreshMetadataIfNecessary();
    const byLeader = this.#unanswered();
    const sent = await Promise.allSettled(
      [...byLeader].map(([nodeId, topics]) => this.#send(nodeId, topics)),
    );
    const failures = sent.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    for (const error of failures) forgetClosed(cluster, error);
    if (failures.length > 0) throw failures.find((error) => !isRetriable(error)) ?? failures[0];
    if (this.#answers.size < this.#countPartitions())
      throw this.#notLoaded("a partition did not answer");
    return [...this.#answers.values()];
  }

  #unanswered(): ReadonlyMap<string, TopicData[]> {
    const byLeader = new Map<string, TopicData[]>();
    this.#groups ??= this.#grouped();
    for (const [topic, groups] of this.#groups) {
      const left = Object.keys(groups)
        .map(Number)
        .filter((partition) => !this.#answers.has(`${partition} ${topic}`));
      const leaders = this.#parts.cluster.findLeaderForPartitions(topic, left);
      const led = Object.values(leaders).reduce((sum, { length }) => sum + length, 0);
      if (led < left.length) throw this.#notLoaded(`a partition of ${topic} has no known leader`);
      for (const [nodeId, partitions] of Object.entries(leaders)) {
        const entries = partitions.map((partition) => {
          return { partition, messages: groups[partition] ?? [], firstSequence: 0 };
        });
        byLeader.set(nodeId, [...(byLeader.get(nodeId) ?? []), { topic, partitions: entries }]);
      }
    }
    return byLeader;
  }

  #countPartitions(): number {
    let count = 0;
    for (const groups of this.#groups?.values() ?? []) count += Object.keys(groups).length;
    return count;
  }

  #grouped(): ReadonlyMap<string, Record<string, Message[]>> {
    const { cluster, partitioner } = this.#parts;
    const groups = new Map<string, Record<string, Message[]>>();
    for (const { topic, messages } of this.#batch.topicMessages) {
      const partitionMetadata = cluster.findTopicPartitionMetadata(topic);
      if (partitionMetadata.length === 0) throw this.#notLoaded(`the topic ${topic} is not known`);
      groups.set(topic, groupByPartition({ topic, partitionMetadata, messages, partitioner }));
    }
    return groups;
  }

  async #send(nodeId: string, topicData: readonly TopicData[]): Promise<void> {
    const { cluster, eosManager } = this.#parts;
    const broker = await cluster.findBroker({ nodeId });
    await eosManager.acquireBrokerLock(broker);
    try {
      if (eosManager.isTransactional()) await eosManager.addPartitionsToTransaction(topicData);
      for (const { topic, partitions } of topicData) {
        for (const entry of partitions) {
          entry.firstSequence = eosManager.getSequence(topic, entry.partition);
          eosManager.updateSequence(topic, entry.partition, entry.messages.length);
        }
      }
      const { topics } = await this.#produce(broker, topicData);
      for (const { topicName, partitions } of topics) {
        for (const one of partitions) {
          this.#answers.set(`${one.partition} ${topicName}`, { topicName, ...one });
        }
      }
    } finally {
      eosManager.releaseBrokerLock(broker);
    }
  }

  async #produce(broker: Broker, topicData: readonly TopicData[]): ReturnType<Broker["produce"]> {
    const { eosManager } = this.#parts;
    const { acks, timeout, compression } = this.#batch;
    try {
      return await broker.produce({
        transactionalId: eosManager.isTransactional() ? eosManager.getTransactionalId() : undefined,
        producerId: eosManager.getProducerId(),
        producerEpoch: eosManager.getProducerEpoch(),
        ...{ acks, timeout, compression, topicData },
      });
    } catch (error) {
      this.hasFailed = true;
      // A repetition then has the same sequence numbers, and a broker does not write it twice.
      for (const { topic, partitions } of topicData) {
        for (const { partition, messages } of partitions) {
          eosManager.updateSequence(topic, partition, -messages.length);
        }
      }
      throw error;
    }
  }

  #notLoaded(what: string): Error {
    return new this.#errors.KafkaJSMetadataNotLoaded(`sending: ${what}`);
  }
}

function forgetClosed(cluster: Cluster, error: unknown): void {
  if (!(error instanceof Error) || error.name !== "KafkaJSConnectionClosedError") return;
  cluster.removeBroker({ host: Reflect.get(error, "host"), port: Reflect.get(error, "port") });
}

/** Disconnects again, since the attempt may have opened connections. */
async function endAgain(cluster: Cluster): Promise<false> {
  await cluster.disconnect();
  return false;
}

/** Reconnects and refreshes as the error requires; false where another attempt cannot help. */
async function prepareAnother(
  cluster: Cluster,
  error: unknown,
  protocol: ProtocolErrors,
): Promise<boolean> {
  const needsRefresh = requiresRefresh(error, protocol);
  if (!needsRefresh && !isRetriable(error)) return false;
  const isConnected = cluster.isConnected();
  if (!isConnected) await cluster.connect();
  if (!isConnected || needsRefresh) await cluster.refreshMetadata();
  return true;
}

function requiresRefresh(error: unknown, { staleMetadata }: ProtocolErrors): boolean {
  if (!(error instanceof Error)) return false;
  if (staleMetadata(error) || REFRESH_AFTER.includes(error.name)) return true;
  return error.name === "KafkaJSProtocolError" && isRetriable(error);
}

function isRetriable(error: unknown): boolean {
  return error instanceof Error && Reflect.get(error, "retriable") === true;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

type Ends = Pick<Cluster, "connect" | "disconnect">;

/**
 * Returns a function that tells whether a client's user disconnected it and has not reconnected.
 */
export function rememberEnded(cluster: { readonly prototype: Ends }): (one: object) => boolean {
  const ended = new WeakSet<object>();
  const { prototype } = cluster;
  const { connect, disconnect } = prototype;
  prototype.connect = function connectAgain(this: Ends): Promise<void> {
    ended.delete(this);
    return connect.call(this);
  };
  prototype.disconnect = function disconnectForGood(this: Ends): Promise<void> {
    ended.add(this);
    return disconnect.call(this);
  };
  return (one) => ended.has(one);
}
