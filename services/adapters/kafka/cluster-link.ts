/** Connections to a cluster, who leads what, and the requests that readers send. */
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
const OF_TRANSACTIONS = 1;

/** `stable`: below it everything is decided. `latest`: what is undecided counts as well. */
export type OffsetKind = "earliest" | "stable" | "latest";

export class ClusterLink {
  readonly #cluster: Cluster;
  readonly #addresses: readonly string[];
  readonly #names: readonly string[];
  readonly #requestTimeoutMs: number;
  #connecting: Promise<void> | undefined;

  /** @param names the topics that are read; they must exist. */
  constructor(kafka: Kafka, names: readonly string[], requestTimeoutMs: number) {
    this.#cluster = openCluster(kafka);
    this.#addresses = addressesOf(kafka);
    this.#names = names;
    this.#requestTimeoutMs = requestTimeoutMs;
  }

  /** @throws FatalError `log_mismatch` that names each topic that is missing. */
  connect(): Promise<void> {
    this.#connecting ??= this.#connect().catch((error: unknown) => {
      this.#connecting = undefined;
      throw mapKafkaError(error, "connecting to the cluster", this.#addresses);
    });
    return this.#connecting;
  }

  /** The broker that leads a partition, as of the last look; undefined: none that we know of. */
  leaderOf(topic: string, partition: number): number | undefined {
    // kafkajs throws where it has lost what it knew.
    if (!this.#knowsTopics()) return undefined;
    const metadata = this.#cluster
      .findTopicPartitionMetadata(topic)
      .find(({ partitionId }) => partitionId === partition);
    return metadata === undefined || metadata.leader < 0 ? undefined : metadata.leader;
  }

  /** Looks again who leads what. One look at a time, shared by all who ask. */
  refresh(): Promise<void> {
    return this.#cluster.refreshMetadata();
  }

  /** As `refresh`, for a link that may not have been used yet. Never rejects. */
  async refreshIfConnected(): Promise<void> {
    if (this.#connecting !== undefined) await this.refresh().catch(() => undefined);
  }

  /** @param connection see internals.ts: requests on one connection are answered one by one. */
  async send<T>(nodeId: number, connection: number, request: WireRequest<T>): Promise<T> {
    const broker = await this.#cluster.findBroker({ nodeId });
    return sendRequest(broker, connection, request, this.#requestTimeoutMs);
  }

  /** What the topics are now; a topic that is missing has an error code. */
  async describe(): Promise<DescribedCluster> {
    const [node] = this.#cluster.getNodeIds();
    if (node === undefined) throw new Error("no broker is known");
    return this.send(Number(node), CONTROL, metadataRequest(this.#names));
  }

  async offset(topic: string, partition: number, kind: OffsetKind): Promise<number> {
    const leader = this.leaderOf(topic, partition);
    if (leader === undefined) throw new Error(`${topic}[${partition}] has no leader now`);
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

  /** Who coordinates the transactions of an id. */
  coordinatorOf(transactionalId: string): Promise<TransactionCoordinator> {
    return this.#cluster.findGroupCoordinator({
      groupId: transactionalId,
      coordinatorType: OF_TRANSACTIONS,
    });
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
        `the cluster has no topic ${names}: make it with \`callgate topics apply\`, or name ` +
          "another under `kafka.topics`",
      );
    }
  }
}
