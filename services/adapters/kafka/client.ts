/** Makes the clients of a Kafka cluster: who to speak to, how to log in, how long to try again. */
import type { ConnectionOptions } from "node:tls";
import type { Kafka, logCreator, RetryOptions, SASLOptions } from "kafkajs";
import type { LogFields, Logger } from "../../runtime/ports.ts";
import { loadKafkajs } from "./mends.ts";

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

/**
 * A client, not yet connected. One for each role and each group: kafkajs keeps marks of offsets in it
 * that two users of one client would overwrite.
 */
export function createKafka(settings: KafkaSettings, logger: Logger): Kafka {
  const { Kafka, logLevel } = loadKafkajs();
  return new Kafka({
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
}

function tlsOptions(tls: KafkaTls): ConnectionOptions {
  return {
    ...(tls.ca === undefined ? {} : { ca: [...tls.ca] }),
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
 * kafkajs logs as errors what it then tries again, so nothing is more than a warning here: what ends in
 * an error is thrown. Only fields known to be plain are taken over; buffers and credentials never are.
 */
function bridgeTo(logger: Logger): logCreator {
  return () =>
    ({ namespace, log }) => {
      const fields: Record<string, string | number | boolean> = { client: namespace };
      for (const name of PLAIN_FIELDS) {
        const value: unknown = log[name];
        if (typeof value === "string" || typeof value === "number") fields[name] = value;
      }
      const message = `kafka: ${firstLine(log.message)}`;
      if (EXPECTED.test(log.message)) logger.debug(message, fields satisfies LogFields);
      else logger.warn(message, fields satisfies LogFields);
    };
}

/** Single answers that are tried again, and advice that does not fit a bounded retry. */
const EXPECTED = /^(Response |Limiting retries )/;
const PLAIN_FIELDS = ["broker", "groupId", "error", "retryCount", "retryTime", "memberId"];
const MESSAGE_MAX = 300;

function firstLine(text: string): string {
  return (text.split("\n", 1)[0] ?? "").slice(0, MESSAGE_MAX);
}
