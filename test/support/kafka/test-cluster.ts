import { setTimeout as sleep } from "node:timers/promises";
import type { ITopicConfig, Kafka } from "kafkajs";
import { createKafka, type KafkaSettings } from "../../../services/adapters/kafka/client.ts";
import {
  type KafkaLog,
  type KafkaLogOptions,
  openKafkaLog,
} from "../../../services/adapters/kafka/kafka-log.ts";
import {
  type TopicNames,
  topicNames,
} from "../../../services/adapters/kafka/topics/topic-names.ts";
import type { Log, Logger, LogRecord } from "../../../services/runtime/ports.ts";
import type { Topic } from "../../../services/runtime/topics.ts";
import { uniqueName } from "../backends/unique-name.ts";

const TRIES_MAX = 200;
const PAUSE_MS = 25;
/** Kafka takes -1 for the brokers' default. */
const AS_MANY_AS_BROKERS = -1;
export const REQUEST_TIMEOUT_MS = 10_000;
/** Creating many topics takes long on a busy machine. */
const CREATE_TIMEOUT_MS = 100_000;

const ignore = (): void => undefined;
const quiet: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Settings of a client without TLS or SASL. */
export function plainSettings(brokers: readonly string[]): KafkaSettings {
  return {
    brokers,
    clientId: "test",
    ssl: null,
    sasl: null,
    connectionTimeoutMs: 3_000,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  };
}

export function connectKafka(
  brokers: readonly string[],
  settings: Partial<KafkaSettings> = {},
): Kafka {
  return createKafka({ ...plainSettings(brokers), ...settings }, quiet);
}

export type TopicChoices = {
  readonly partitions?: number;
  readonly replicas?: number;
  /** Settings of each topic beside the broker's time, `retention.ms` and the like. */
  readonly config?: Readonly<Record<string, string>>;
};

/** Creates all topics of a gate, under names of its own. */
export async function makeTopics(
  brokers: readonly string[],
  choices: TopicChoices = {},
): Promise<TopicNames> {
  const names = topicNames(uniqueName("t"));
  await createTopics(brokers, Object.values(names), choices);
  return names;
}

/** Creates topics, and resolves when the broker knows them. */
export async function createTopics(
  brokers: readonly string[],
  names: readonly string[],
  choices: TopicChoices = {},
): Promise<void> {
  const config = { "message.timestamp.type": "LogAppendTime", ...choices.config };
  const topics: ITopicConfig[] = names.map((topic) => ({
    topic,
    numPartitions: choices.partitions ?? 2,
    replicationFactor: choices.replicas ?? AS_MANY_AS_BROKERS,
    configEntries: Object.entries(config).map(([name, value]) => ({ name, value })),
  }));
  const admin = connectKafka(brokers, { requestTimeoutMs: CREATE_TIMEOUT_MS }).admin();
  await admin.connect();
  try {
    const timeout = CREATE_TIMEOUT_MS;
    await admin.createTopics({ topics, waitForLeaders: false, timeout });
  } finally {
    await admin.disconnect();
  }
  await waitForTopics(brokers, [...names]);
}

export type LogChoices = Partial<Omit<KafkaLogOptions, "kafka" | "names">> & {
  readonly settings?: Partial<KafkaSettings>;
};

/** Some milliseconds after its creation, a broker may not know a topic or its leader. */
async function waitForTopics(brokers: readonly string[], topics: string[]): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    // A client that knows another leader does not refresh its metadata.
    const admin = connectKafka(brokers).admin();
    try {
      await admin.connect();
      await admin.fetchTopicMetadata({ topics });
      for (const topic of topics) await admin.fetchTopicOffsets(topic);
      return;
    } catch (error) {
      if (tries > TRIES_MAX) throw error;
      await sleep(PAUSE_MS);
    } finally {
      await admin.disconnect();
    }
  }
}

export function openTestLog(
  brokers: readonly string[],
  names: TopicNames,
  choices: LogChoices = {},
): Promise<KafkaLog> {
  const { requestTimeoutMs = REQUEST_TIMEOUT_MS, settings, ...options } = choices;
  const kafka = connectKafka(brokers, { requestTimeoutMs, ...settings });
  return openKafkaLog({ kafka, names, clientId: "test", requestTimeoutMs, ...options });
}

/** The records from the start of a partition up to its present end. */
export async function readAll(
  log: Log,
  topic: Topic,
  partition: number,
  from = 0,
): Promise<readonly LogRecord[]> {
  const end = await log.endOffset(topic, partition);
  const records: LogRecord[] = [];
  for (let offset = from; offset < end; ) {
    const read = await log.read(topic, partition, offset, READ_LIMITS);
    records.push(...read.records);
    offset = read.nextOffset;
  }
  return records;
}

const READ_LIMITS = { recordsMax: 1_000, bytesMax: 4 * 1024 * 1024 };
