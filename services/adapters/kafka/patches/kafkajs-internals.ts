/**
 * What we use of kafkajs below its public interface, beside what the patches change; nothing else does.
 *
 * | module of kafkajs | what for |
 * |---|---|
 * | `cluster` | connections and leaders for our reader: `createCluster` |
 * | `loggers` | the logger that a cluster wants |
 * | `network/socketFactory` | the sockets that we retain, to end them all: `defaultSockets` |
 *
 * The patches change `broker`, `cluster`, `cluster/brokerPool`, `network/connection`,
 * `network/connectionPool`, `network/requestQueue` and a response in place, and take the place of
 * `producer/sendMessages`, `producer/groupMessagesPerPartition`, `protocol/request` and
 * `protocol/requests/produce/v3/request` (load-kafkajs.ts), in a copy of the package that nobody else
 * in the process has (private-package.ts).
 */
import type { ISocketFactory, KafkaConfig } from "kafkajs";
import { loadInternal } from "./load-kafkajs.ts";

/** A request in the form that a connection of kafkajs sends. */
export type WireRequest<T> = {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly apiName: string;
  /** The body, from after the client id. */
  readonly body: Buffer;
  /** @param payload from after the correlation id. */
  readonly decode: (payload: Buffer) => T;
  /** How long the broker may hold the answer back, beside the usual time-out. */
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

/** A producer as the coordinator of its transactional id knows it. */
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
  }): Promise<TransactionCoordinator>;
  findBroker(input: { readonly nodeId: number | string }): Promise<Broker>;
  findTopicPartitionMetadata(
    topic: string,
  ): readonly { readonly partitionId: number; readonly leader: number }[];
};

/** The two connections that kafkajs keeps to each broker: the second carries long polls only. */
export const CONTROL = 0;
export const POLL = 1;

type ClusterClass = new (options: object) => Cluster;
type Loggers = {
  createLogger(options: { level: unknown; logCreator: unknown }): object;
};

/** A cluster object as producers and consumers have one: connections, addresses, leaders. */
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

/** What kafkajs connects with, unless it is told otherwise. */
export function defaultSockets(): ISocketFactory {
  return loadInternal<() => ISocketFactory>("network/socketFactory")();
}

/** As kafkajs' client has them for its own clusters, but for topics that nobody asked for. */
const CLUSTER_DEFAULTS = {
  enforceRequestTimeout: true,
  metadataMaxAge: 300_000,
  allowAutoTopicCreation: false,
  instrumentationEmitter: null,
  maxInFlightRequests: null,
} as const;

/** Sends one of our own requests over a connection of kafkajs: its TLS, its login, its time-outs. */
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
      // What kafkajs looks for in an answer is a field for throttling.
      decode: async (payload) => ({ clientSideThrottleTime: 0, payload }),
      parse: async (decoded) => request.decode((decoded as { payload: Buffer }).payload),
    },
    requestTimeout: requestTimeoutMs + request.waitMs,
    logResponseError: false,
  });
  return answer as T;
}
