/** From the configuration to what the adapters take. */
import { readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import type { Config } from "../adapters/config/config-schema.ts";
import type { KafkaSasl, KafkaSettings, KafkaTls } from "../adapters/kafka/client.ts";
import { type TopicNames, topicNames } from "../adapters/kafka/topic-names.ts";
import { CallgateError } from "./callgate-error.ts";

/** @throws CallgateError `invalid_input` where a certificate or key cannot be read. */
export function kafkaSettings({ kafka }: Config): KafkaSettings {
  const { brokers, clientId, connectionTimeoutMs, requestTimeoutMs } = kafka;
  return {
    ...{ brokers, clientId, connectionTimeoutMs, requestTimeoutMs },
    ssl: kafka.ssl.enabled ? tlsOf(kafka.ssl) : null,
    sasl: kafka.sasl === undefined ? null : saslOf(kafka.sasl),
  };
}

export function topicNamesOf({ kafka }: Config): TopicNames {
  return topicNames(kafka.topicPrefix, kafka.topics);
}

function tlsOf(ssl: Config["kafka"]["ssl"]): KafkaTls {
  const { caFile, certFile, keyFile, passphrase, serverName } = ssl;
  return {
    // Given alone, they would take the place of the system's.
    ca: caFile === undefined ? undefined : [...rootCertificates, pem("kafka.ssl.caFile", caFile)],
    cert: certFile === undefined ? undefined : pem("kafka.ssl.certFile", certFile),
    key: keyFile === undefined ? undefined : pem("kafka.ssl.keyFile", keyFile),
    passphrase,
    serverName,
  };
}

function saslOf({
  mechanism,
  username,
  password,
}: NonNullable<Config["kafka"]["sasl"]>): KafkaSasl {
  // The configuration is not accepted without one.
  return { mechanism, username, password: password ?? "" };
}

function pem(key: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CallgateError("invalid_input", `${key}: cannot be read: ${why}; check the path`, {
      cause,
    });
  }
}
