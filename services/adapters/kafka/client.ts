/** Makes the clients of a Kafka cluster: who to speak to, how to log in, how long to try again. */
import { type ConnectionOptions, rootCertificates } from "node:tls";
import type { Kafka, RetryOptions, SASLOptions } from "kafkajs";
import type { Logger } from "../../runtime/ports.ts";
import { bridgeTo } from "./log-bridge.ts";
import { defaultSockets, loadKafkajs } from "./mends.ts";
import { OpenSockets } from "./open-sockets.ts";

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

const addresses = new WeakMap<Kafka, readonly string[]>();
const sockets = new WeakMap<Kafka, OpenSockets>();

/** Where a client of ours looks for its cluster, for messages; empty: it is none of ours. */
export function addressesOf(kafka: Kafka): readonly string[] {
  return addresses.get(kafka) ?? [];
}

/** Ends all connections of a client of ours at once, for a cluster that does not answer: it is of no use any more. */
export function giveUp(kafka: Kafka): void {
  sockets.get(kafka)?.end();
}

/**
 * A client, not yet connected. One for each role and each group: kafkajs keeps marks of offsets in it
 * that two users of one client would overwrite.
 */
export function createKafka(settings: KafkaSettings, logger: Logger): Kafka {
  const { Kafka, logLevel } = loadKafkajs();
  const opened = new OpenSockets(defaultSockets());
  const kafka = new Kafka({
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
  });
  addresses.set(kafka, settings.brokers);
  sockets.set(kafka, opened);
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
