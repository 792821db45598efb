/** Makes the clients of a Kafka cluster: who to speak to, how to log in, how long to try again. */

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
  /** Certificates to trust beside the system's, the client's own and its key: PEM. */
  readonly ca?: readonly string[] | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly passphrase?: string | undefined;
  /** The name that the certificate must carry, where it is not the host's. */
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
 * How kafkajs tries again, for the clients and for the producers alike. The first waits are what a
 * transaction costs after CONCURRENT_TRANSACTIONS; all of them together outlast the restart of a broker.
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

/** Where a client of ours looks for its cluster, for messages; empty: it is none of ours. */
export function addressesOf(kafka: Kafka): readonly string[] {
  return made.get(kafka)?.addresses ?? [];
}

/** Connections of their own, with the settings and sockets of a client of ours. */
export function openCluster(kafka: Kafka): Cluster {
  const of = made.get(kafka);
  if (of === undefined) throw new Error("the client was not made by `createKafka`");
  return createCluster(of.config);
}

/** Ends all connections of a client of ours at once, for a cluster that does not answer: it is of no use any more. */
export function giveUp(kafka: Kafka): void {
  made.get(kafka)?.sockets.end();
}

/**
 * A client, not yet connected. One for each role and each group: kafkajs keeps marks of offsets in it
 * that two users of one client would overwrite.
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
    // What is given as `ca` takes the place of the system's: both are wanted.
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

/** The connections of a client: kafkajs ends none before all that was asked on it is answered, or late. */

export class OpenSockets {
  readonly #make: ISocketFactory;
  readonly #open = new Set<Socket>();
  #isEnded = false;

  /** @param make as kafkajs makes them. */
  constructor(make: ISocketFactory) {
    this.#make = make;
  }

  /** For the client. */
  readonly open: ISocketFactory = (address) => {
    if (this.#isEnded) throw new Error("the client was given up: it connects to nothing any more");
    const socket = this.#make(address);
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    return socket;
  };

  /** Whatever waits for an answer fails now, and nothing is connected any more. */
  end(): void {
    this.#isEnded = true;
    for (const socket of this.#open) socket.destroy(new Error("the client was given up"));
  }
}

/** Single answers that are tried again, and advice that does not fit a bounded retry. */
const EXPECTED = /^(Response |Limiting retries )/;
const PLAIN_FIELDS = ["broker", "groupId", "error", "retryCount", "retryTime", "memberId"];
const MESSAGE_MAX = 300;
/** A broker that is away is told of again after this time, not at each of many tries. */
const REPEAT_MS = 5_000;
const REMEMBERED_MAX = 100;

/**
 * kafkajs logs as errors what it then tries again, so nothing is more than a warning here: what ends in
 * an error is thrown. Only fields known to be plain are taken over; buffers and credentials never are.
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
