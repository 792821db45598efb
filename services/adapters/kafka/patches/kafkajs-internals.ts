/**
 * The private modules of kafkajs that we use, in one place.
 *
 * | module of kafkajs | use |
 * |---|---|
 * | `cluster` | connections and leaders for our reader: `createCluster` |
 * | `loggers` | the logger that a cluster requires |
 * | `network/socketFactory` | sockets that we can end at once: `defaultSockets` |
 *
 * In addition the patches (load-kafkajs.ts) change `broker`, `cluster`, `cluster/brokerPool`,
 * `network/connection`, `network/connectionPool`, `network/requestQueue` and
 * `protocol/requests/addPartitionsToTxn/v0/response` in place, and replace `cluster`,
 * `producer/sendMessages`, `producer/groupMessagesPerPartition`, `protocol/request` and
 * `protocol/requests/produce/v3/request`. They do so in a copy of the package that only this module
 * has (private-package.ts).
 */
import type { ISocketFactory, KafkaConfig } from "kafkajs";
import { loadInternal } from "./load-kafkajs.ts";

/** A request that kafkajs can send over its connections. */
export type WireRequest<T> = {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly apiName: string;
  /** The bytes after the client id. */
  readonly body: Buffer;
  /** @param payload the bytes after the correlation id. */
  readonly decode: (payload: Buffer) => T;
  /** How long the broker may delay the answer, in addition to the usual time-out. */
  readonly waitMs: number;
};

type Protocol = {
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly apiName: string;
    readonly encode: () => Promise<{ readonly buf: Buffer; readonly buffer: Buffer }>;
  };
  readonly response: {
    readonly decode: (payload: Buffer) => Promise<unknown>;
    readonly parse: (decoded: unknown) => Promise<unknown>;
  };
  readonly requestTimeout: number;
  readonly logResponseError: boolean;
};

type Connection = { send(protocol: Protocol): Promise<unknown> };

type ListOffsetsTopic = {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number; readonly timestamp: string }[];
};

export type Broker = {
  readonly connectionPool: { getConnection(index: number): Promise<Connection> };
  listOffsets(request: {
    readonly isolationLevel: number;
    readonly topics: readonly ListOffsetsTopic[];
  }): Promise<{
    readonly responses: readonly {
      readonly topic: string;
      readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
    }[];
  }>;
};

/** The ids by which a coordinator recognizes a producer. */
export type ProducerIdentity = {
  readonly transactionalId: string;
  readonly producerId: number | string;
  readonly producerEpoch: number;
};

/** The broker that coordinates a transactional id. */
export type TransactionCoordinator = {
  initProducerId(request: {
    readonly transactionalId: string;
    readonly transactionTimeout: number;
  }): Promise<Pick<ProducerIdentity, "producerId" | "producerEpoch">>;
  addPartitionsToTxn(
    request: ProducerIdentity & {
      readonly topics: readonly {
        readonly topic: string;
        readonly partitions: readonly number[];
      }[];
    },
  ): Promise<unknown>;
  /** @param request `transactionResult`: true commits, false aborts. */
  endTxn(request: ProducerIdentity & { readonly transactionResult: boolean }): Promise<unknown>;
};

/** The broker that coordinates a consumer group. */
export type GroupCoordinator = {
  describeGroups(request: { readonly groupIds: readonly string[] }): Promise<{
    readonly groups: readonly { readonly members: readonly { readonly memberId: string }[] }[];
  }>;
  leaveGroup(request: { readonly groupId: string; readonly memberId: string }): Promise<unknown>;
};

export type Cluster = {
  readonly brokerPool: { readonly metadata: unknown };
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  refreshMetadata(): Promise<void>;
  getNodeIds(): readonly string[];
  findGroupCoordinator(input: {
    readonly groupId: string;
    readonly coordinatorType: number;
  }): Promise<TransactionCoordinator & GroupCoordinator>;
  findBroker(input: { readonly nodeId: number | string }): Promise<Broker>;
  findTopicPartitionMetadata(
    topic: string,
  ): readonly { readonly partitionId: number; readonly leader: number }[];
};

/** The two connections that kafkajs has to each broker; the second carries long polls only. */
export const CONTROL = 0;
export const POLL = 1;

type ClusterClass = new (options: object) => Cluster;
type Loggers = {
  createLogger(options: { level: unknown; logCreator: unknown }): object;
};

/** Creates kafkajs' object for the connections, addresses and leaders of a cluster. */
export function createCluster({ logLevel, logCreator, ...config }: KafkaConfig): Cluster {
  const Cluster = loadInternal<ClusterClass>("cluster");
  const { createLogger } = loadInternal<Loggers>("loggers");
  return new Cluster({
    ...config,
    ...CLUSTER_DEFAULTS,
    logger: createLogger({ level: logLevel, logCreator }),
    offsets: new Map(),
  });
}

/** The socket factory that kafkajs uses by default. */
export function defaultSockets(): ISocketFactory {
  return loadInternal<() => ISocketFactory>("network/socketFactory")();
}

/** The values that kafkajs' client passes, except that reading a topic never creates it. */
const CLUSTER_DEFAULTS = {
  enforceRequestTimeout: true,
  metadataMaxAge: 300_000,
  allowAutoTopicCreation: false,
  instrumentationEmitter: null,
  maxInFlightRequests: null,
} as const;

/** Sends one of our own requests over a connection of kafkajs, with its TLS, SASL and time-outs. */
export async function sendRequest<T>(
  broker: Broker,
  connection: number,
  request: WireRequest<T>,
  requestTimeoutMs: number,
): Promise<T> {
  const { apiKey, apiVersion, apiName, body } = request;
  const link = await broker.connectionPool.getConnection(connection);
  const answer = await link.send({
    request: { apiKey, apiVersion, apiName, encode: async () => ({ buf: body, buffer: body }) },
    response: {
      // kafkajs reads one field of an answer itself: how long the client shall throttle.
      decode: async (payload) => ({ clientSideThrottleTime: 0, payload }),
      parse: async (decoded) => request.decode((decoded as { payload: Buffer }).payload),
    },
    requestTimeout: requestTimeoutMs + request.waitMs,
    logResponseError: false,
  });
  return answer as T;
}
