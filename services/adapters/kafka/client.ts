/** Creates kafkajs clients: brokers, TLS, SASL, time-outs, retries and logging. */

import type { Socket } from "node:net";
import { type ConnectionOptions, rootCertificates } from "node:tls";
import type {
  ISocketFactory,
  Kafka,
  KafkaConfig,
  logCreator,
  RetryOptions,
  SASLOptions,
} from "kafkajs";
import type { Logger } from "../../runtime/ports.ts";
import { type Cluster, createCluster, defaultSockets } from "./patches/kafkajs-internals.ts";
import { loadKafkajs } from "./patches/load-kafkajs.ts";

export type KafkaTls = {
  /** PEM certificates of authorities to trust in addition to those that Node trusts. */
  readonly ca?: readonly string[] | undefined;
  /** PEM of the client's own certificate, and of its private key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly passphrase?: string | undefined;
  /** The name that the broker's certificate must carry, where it differs from the host name. */
  readonly serverName?: string | undefined;
};

export type KafkaSasl = {
  readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
  readonly username: string;
  readonly password: string;
};

export type KafkaSettings = {
  /** `host:port`, at least one. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly ssl: KafkaTls | null;
  readonly sasl: KafkaSasl | null;
  readonly connectionTimeoutMs: number;
  readonly requestTimeoutMs: number;
};

/**
 * How clients and producers retry. The first pauses are short, since a transaction that meets
 * CONCURRENT_TRANSACTIONS waits for one; all pauses together are longer than a broker's restart.
 */
export const RETRY = {
  initialRetryTime: 3,
  maxRetryTime: 250,
  retries: 40,
} as const satisfies RetryOptions;

type Made = {
  readonly config: KafkaConfig;
  readonly addresses: readonly string[];
  readonly sockets: OpenSockets;
};

const made = new WeakMap<Kafka, Made>();

/**
 * Broker addresses of a client, for messages; empty for a client that `createKafka` did not make.
 */
export function addressesOf(kafka: Kafka): readonly string[] {
  return made.get(kafka)?.addresses ?? [];
}

/** Opens separate connections with the settings of a client that `createKafka` made. */
export function openCluster(kafka: Kafka): Cluster {
  const of = made.get(kafka);
  if (of === undefined) throw new Error("the client was not made by `createKafka`");
  return createCluster(of.config);
}

/**
 * Ends all connections of a client at once, for a cluster that does not answer. The client stays
 * unusable.
 */
export function endConnections(kafka: Kafka): void {
  made.get(kafka)?.sockets.end();
}

/**
 * Creates a client that is not connected yet. Each role and each group needs a client of its own:
 * kafkajs stores offsets in the client, and two users would overwrite each other's.
 */
export function createKafka(settings: KafkaSettings, logger: Logger): Kafka {
  const { Kafka, logLevel } = loadKafkajs();
  const opened = new OpenSockets(defaultSockets());
  const config: KafkaConfig = {
    socketFactory: opened.open,
    brokers: [...settings.brokers],
    clientId: settings.clientId,
    ...(settings.ssl === null ? {} : { ssl: tlsOptions(settings.ssl) }),
    ...(settings.sasl === null ? {} : { sasl: saslOptions(settings.sasl) }),
    connectionTimeout: settings.connectionTimeoutMs,
    requestTimeout: settings.requestTimeoutMs,
    retry: RETRY,
    logLevel: logLevel.WARN,
    logCreator: bridgeTo(logger),
  };
  const kafka = new Kafka(config);
  made.set(kafka, { config, addresses: settings.brokers, sockets: opened });
  return kafka;
}

function tlsOptions(tls: KafkaTls): ConnectionOptions {
  return {
    // Node replaces its own authorities by `ca`, so the list names both.
    ...(tls.ca === undefined ? {} : { ca: [...rootCertificates, ...tls.ca] }),
    ...(tls.cert === undefined ? {} : { cert: tls.cert }),
    ...(tls.key === undefined ? {} : { key: tls.key }),
    ...(tls.passphrase === undefined ? {} : { passphrase: tls.passphrase }),
    ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
  };
}

function saslOptions({ mechanism, username, password }: KafkaSasl): SASLOptions {
  return { mechanism, username, password };
}

/**
 * The open sockets of a client. kafkajs ends a connection only when every request on it has been
 * answered or has timed out; this class can end them at once.
 */
export class OpenSockets {
  readonly #make: ISocketFactory;
  readonly #open = new Set<Socket>();
  #isEnded = false;

  /** @param make kafkajs' own socket factory. */
  constructor(make: ISocketFactory) {
    this.#make = make;
  }

  /** The socket factory that the client is created with. */
  readonly open: ISocketFactory = (address) => {
    if (this.#isEnded) throw new Error("the Kafka client was closed and connects no more");
    const socket = this.#make(address);
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    return socket;
  };

  /**
   * Destroys all sockets: requests that wait for an answer fail, and later connections are refused.
   */
  end(): void {
    this.#isEnded = true;
    for (const socket of this.#open) socket.destroy(new Error("the Kafka client was closed"));
  }
}

/**
 * Messages of kafkajs for debug level: answers that it retries, and advice on unlimited retries.
 */
const EXPECTED = /^(Response |Limiting retries )/;
const PLAIN_FIELDS = ["broker", "groupId", "error", "retryCount", "retryTime", "memberId"];
const MESSAGE_MAX = 300;
/**
 * The same message is logged as a warning only once in this time, however often kafkajs retries.
 */
const REPEAT_MS = 5_000;
const REMEMBERED_MAX = 100;

/**
 * Passes kafkajs' messages to our logger. kafkajs logs as errors what it then retries, so nothing
 * is more than a warning here; a real failure is thrown. Only `PLAIN_FIELDS` are logged, so that
 * buffers and credentials never are.
 */
export function bridgeTo(logger: Logger): logCreator {
  const loggedAtMs = new Map<string, number>();
  const isRepeated = (text: string): boolean => {
    const nowMs = Date.now();
    const before = loggedAtMs.get(text);
    if (before !== undefined && nowMs - before < REPEAT_MS) return true;
    if (loggedAtMs.size >= REMEMBERED_MAX) loggedAtMs.clear();
    loggedAtMs.set(text, nowMs);
    return false;
  };
  return () =>
    ({ namespace, log }) => {
      const message = `kafka: ${firstLine(log.message)}`;
      const fields: Record<string, string | number | boolean> = { client: namespace };
      for (const name of PLAIN_FIELDS) {
        const value: unknown = log[name];
        if (typeof value === "string" || typeof value === "number") fields[name] = value;
      }
      const quiet = EXPECTED.test(log.message) || isRepeated(`${namespace} ${message}`);
      if (quiet) logger.debug(message, fields);
      else logger.warn(message, fields);
    };
}

function firstLine(text: string): string {
  return (text.split("\n", 1)[0] ?? "").slice(0, MESSAGE_MAX);
}
