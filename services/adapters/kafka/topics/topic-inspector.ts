/** Reads the shapes and settings of the topics from the cluster. */
import type { Admin, Kafka } from "kafkajs";
import type { TopicFacts, TopicInspector } from "../../../runtime/ports.ts";
import { TOPICS, type Topic } from "../../../runtime/topics.ts";
import { addressesOf } from "../client.ts";
import { mapKafkaError } from "../map-error.ts";
import type { TopicNames } from "./topic-names.ts";

const TOPIC_RESOURCE = 2;
const KEYS = [
  "cleanup.policy",
  "compression.type",
  "max.message.bytes",
  "message.timestamp.type",
  "min.insync.replicas",
  "retention.bytes",
  "retention.ms",
];

type Shape = { readonly partitions: number; readonly replicationFactor: number };
type Settings = ReadonlyMap<string, string>;

const NO_SHAPE: Shape = { partitions: 0, replicationFactor: 0 };

export class KafkaTopicInspector implements TopicInspector {
  readonly #newKafka: () => Kafka;
  readonly #names: TopicNames;

  constructor(newKafka: () => Kafka, names: TopicNames) {
    this.#newKafka = newKafka;
    this.#names = names;
  }

  async describe(): Promise<readonly TopicFacts[]> {
    return this.#ask(async (admin) => {
      const shapes = await this.#shapes(admin);
      const present = [...shapes.keys()];
      const settings = present.length === 0 ? new Map() : await settingsOf(admin, present);
      return TOPICS.map((topic) => {
        const name = this.#names[topic];
        return factsOf(topic, name, shapes.get(name) ?? NO_SHAPE, settings.get(name) ?? new Map());
      });
    });
  }

  /** Counts the partitions of each existing topic, by its name. */
  async countPartitions(): Promise<ReadonlyMap<string, number>> {
    const shapes = await this.#ask((admin) => this.#shapes(admin));
    return new Map([...shapes].map(([name, { partitions }]) => [name, partitions]));
  }

  async #ask<T>(question: (admin: Admin) => Promise<T>): Promise<T> {
    const kafka = this.#newKafka();
    const admin = kafka.admin();
    try {
      await admin.connect();
      return await question(admin);
    } catch (error) {
      throw mapKafkaError(error, "reading the topics", addressesOf(kafka));
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  }

  /** Only of existing topics, since a request for a missing one is an error. */
  async #shapes(admin: Admin): Promise<ReadonlyMap<string, Shape>> {
    const existing = new Set(await admin.listTopics());
    const topics = TOPICS.map((topic) => this.#names[topic]).filter((name) => existing.has(name));
    if (topics.length === 0) return new Map();
    const metadata = await admin.fetchTopicMetadata({ topics });
    return new Map(
      metadata.topics.map(({ name, partitions }) => [
        name,
        {
          partitions: partitions.length,
          replicationFactor: Math.min(...partitions.map(({ replicas }) => replicas.length)),
        },
      ]),
    );
  }
}

async function settingsOf(
  admin: Admin,
  topics: readonly string[],
): Promise<ReadonlyMap<string, Settings>> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((name) => ({ type: TOPIC_RESOURCE, name, configNames: [...KEYS] })),
  });
  return new Map(
    resources.map(({ resourceName, configEntries }) => [
      resourceName,
      new Map(configEntries.map(({ configName, configValue }) => [configName, configValue])),
    ]),
  );
}

function factsOf(topic: Topic, name: string, shape: Shape, settings: Settings): TopicFacts {
  const text = (key: string): string => settings.get(key) ?? "";
  const number = (key: string): number => Number(settings.get(key) ?? -1);
  return {
    topic,
    name,
    ...shape,
    cleanupPolicy: text("cleanup.policy"),
    retentionMs: number("retention.ms"),
    retentionBytes: number("retention.bytes"),
    minInsyncReplicas: number("min.insync.replicas"),
    timestampType: text("message.timestamp.type"),
    compressionType: text("compression.type"),
    messageBytesMax: number("max.message.bytes"),
  };
}
