/** Converts the configuration to the settings of the adapters. */
import type { Config } from "../adapters/config/config-schema.ts";
import type { KafkaSasl, KafkaSettings, KafkaTls } from "../adapters/kafka/client.ts";
import { type TopicNames, topicNames } from "../adapters/kafka/topics/topic-names.ts";
import { readTlsFiles } from "./tls-files.ts";

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
  const { ca, ...texts } = readTlsFiles("kafka.ssl", ssl);
  return { ...texts, ca: ca === undefined ? undefined : [ca], serverName: ssl.serverName };
}

function saslOf({
  mechanism,
  username,
  password,
}: NonNullable<Config["kafka"]["sasl"]>): KafkaSasl {
  // The configuration is not accepted without a password.
  return { mechanism, username, password: password ?? "" };
}
