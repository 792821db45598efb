/** Our own connections to a cluster: they know the leaders and send the requests of the readers. */
import type { Kafka } from "kafkajs";
import { FatalError } from "../../runtime/errors.ts";
import { addressesOf, openCluster } from "./client.ts";
import { mapKafkaError, protocolCode } from "./map-error.ts";
import {
  type Cluster,
  CONTROL,
  sendRequest,
  type TransactionCoordinator,
  type WireRequest,
} from "./patches/kafkajs-internals.ts";
import { type DescribedCluster, metadataRequest } from "./topics/metadata-request.ts";

const LATEST = "-1";
const EARLIEST = "-2";
const READ_UNCOMMITTED = 0;
const READ_COMMITTED = 1;
const UNKNOWN_TOPIC = 3;
const GROUP_COORDINATOR = 0;
const TRANSACTION_COORDINATOR = 1;

/**
 * `stable` (the last stable offset): every transaction below it has ended. `latest` (the high
 * watermark): records of open transactions count as well.
 */
export type OffsetKind = "earliest" | "stable" | "latest";

export class ClusterLink {
  readonly #cluster: Cluster;
  readonly #addresses: readonly string[];
  readonly #names: readonly string[];
  readonly #requestTimeoutMs: number;
  #connecting: Promise<void> | undefined;

  /** @param names the topics to read; each must exist. */
  constructor(kafka: Kafka, names: readonly string[], requestTimeoutMs: number) {
    this.#cluster = openCluster(kafka);
    this.#addresses = addressesOf(kafka);
    this.#names = names;
    this.#requestTimeoutMs = requestTimeoutMs;
  }

  /** @throws FatalError `log_mismatch` that lists the missing topics. */
  connect(): Promise<void> {
    this.#connecting ??= this.#connect().catch((error: unknown) => {
      this.#connecting = undefined;
      throw mapKafkaError(error, "connecting to the cluster", this.#addresses);
    });
    return this.#connecting;
  }

  /** The broker that leads a partition, by the latest metadata; undefined where none is known. */
  leaderOf(topic: string, partition: number): number | undefined {
    // kafkajs throws while it has no metadata.
    if (!this.#knowsTopics()) return undefined;
    const metadata = this.#cluster
      .findTopicPartitionMetadata(topic)
      .find(({ partitionId }) => partitionId === partition);
    return metadata === undefined || metadata.leader < 0 ? undefined : metadata.leader;
  }

  /** Fetches the metadata anew. Concurrent callers share one request. */
  refresh(): Promise<void> {
    return this.#cluster.refreshMetadata();
  }

  /** Like `refresh`, but does nothing before the first `connect`. Never rejects. */
  async refreshIfConnected(): Promise<void> {
    if (this.#connecting !== undefined) await this.refresh().catch(() => undefined);
  }

  /**
   * @param connection `CONTROL` or `POLL`: a broker answers the requests of a connection in order.
   */
  async send<T>(nodeId: number, connection: number, request: WireRequest<T>): Promise<T> {
    const broker = await this.#cluster.findBroker({ nodeId });
    return sendRequest(broker, connection, request, this.#requestTimeoutMs);
  }

  /** Describes the topics as they are now; a missing topic has an error code. */
  async describe(): Promise<DescribedCluster> {
    const [node] = this.#cluster.getNodeIds();
    if (node === undefined) throw new Error("no broker is known");
    return this.send(Number(node), CONTROL, metadataRequest(this.#names));
  }

  async offset(topic: string, partition: number, kind: OffsetKind): Promise<number> {
    const leader = this.leaderOf(topic, partition);
    if (leader === undefined) throw new Error(`${topic}[${partition}] has no leader`);
    const broker = await this.#cluster.findBroker({ nodeId: leader });
    const timestamp = kind === "earliest" ? EARLIEST : LATEST;
    const { responses } = await broker.listOffsets({
      isolationLevel: kind === "stable" ? READ_COMMITTED : READ_UNCOMMITTED,
      topics: [{ topic, partitions: [{ partition, timestamp }] }],
    });
    const offset = responses[0]?.partitions[0]?.offset;
    if (offset === undefined) throw new Error(`${topic}[${partition}]: no offset in the answer`);
    return Number(offset);
  }

  /** Finds the broker that coordinates the transactions of an id. */
  coordinatorOf(transactionalId: string): Promise<TransactionCoordinator> {
    return this.#cluster.findGroupCoordinator({
      groupId: transactionalId,
      coordinatorType: TRANSACTION_COORDINATOR,
    });
  }

  /** Lets all members of a consumer group leave it, as if their sessions were over. */
  async removeMembers(groupId: string): Promise<void> {
    const coordinator = await this.#cluster.findGroupCoordinator({
      ...{ groupId, coordinatorType: GROUP_COORDINATOR },
    });
    const { groups } = await coordinator.describeGroups({ groupIds: [groupId] });
    for (const { memberId } of groups.flatMap(({ members }) => members)) {
      await coordinator.leaveGroup({ groupId, memberId });
    }
  }

  async close(): Promise<void> {
    await this.#cluster.disconnect();
  }

  #knowsTopics(): boolean {
    return this.#cluster.brokerPool.metadata !== null;
  }

  async #connect(): Promise<void> {
    await this.#cluster.connect();
    try {
      await this.#cluster.addMultipleTargetTopics(this.#names);
    } catch (error) {
      if (protocolCode(error) !== UNKNOWN_TOPIC) throw error;
      await this.#cluster.refreshMetadata();
      const { topics } = await this.describe();
      const missing = topics.filter(({ errorCode }) => errorCode === UNKNOWN_TOPIC);
      if (missing.length === 0) throw error;
      const names = missing.map(({ name }) => `\`${name}\``).join(", ");
      throw new FatalError(
        "log_mismatch",
        `the cluster has no topic ${names}: create it with \`callgate topics apply\`, or set ` +
          "the name of an existing topic under `kafka.topics`",
      );
    }
  }
}
