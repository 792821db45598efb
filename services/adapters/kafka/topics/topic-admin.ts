/** Creates topics and changes their settings. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Admin, Kafka } from "kafkajs";
import { addressesOf } from "../client.ts";
import { mapKafkaError, protocolCode } from "../map-error.ts";

export type TopicSettings = Readonly<Record<string, string>>;

export type NewTopic = {
  readonly name: string;
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly settings: TopicSettings;
};

const TOPIC_RESOURCE = 2;
/** Value of `configSource` for a setting of the topic itself. */
const SET_FOR_TOPIC = 1;
const TIMEOUT_MS = 30_000;
/** Error codes of a broker that does not know a new topic, or its leader, yet. */
const STALE_METADATA_CODES: ReadonlySet<number> = new Set([3, 5, 6]);
const LOOK_EVERY_MS = 100;

export class KafkaTopicAdmin {
  readonly #newKafka: () => Kafka;

  constructor(newKafka: () => Kafka) {
    this.#newKafka = newKafka;
  }

  /** Counts the brokers, which limit the number of replicas. */
  async countBrokers(): Promise<number> {
    return await this.#with(async (admin) => (await admin.describeCluster()).brokers.length);
  }

  /** The id that the brokers gave the cluster. */
  async clusterId(): Promise<string> {
    return await this.#with(async (admin) => (await admin.describeCluster()).clusterId);
  }

  /**
   * Creates topics and waits until the brokers know them and their leaders. kafkajs' own wait fails
   * with code 3, although the topics exist, where it asks a broker that does not know them yet.
   *
   * @throws RetryableError, FatalError where a topic cannot be created.
   */
  async create(topics: readonly NewTopic[]): Promise<void> {
    if (topics.length === 0) return;
    await this.#with((admin) =>
      admin.createTopics({
        waitForLeaders: false,
        timeout: TIMEOUT_MS,
        topics: topics.map(({ name, partitions, replicationFactor, settings }) => ({
          topic: name,
          numPartitions: partitions,
          replicationFactor,
          configEntries: entriesOf(settings),
        })),
      }),
    );
    await this.#untilLed(topics.map(({ name }) => name));
  }

  /** Deletes topics, with everything in them. */
  async remove(names: readonly string[]): Promise<void> {
    await this.#with((admin) => admin.deleteTopics({ topics: [...names], timeout: TIMEOUT_MS }));
  }

  async #untilLed(topics: string[]): Promise<void> {
    const untilMs = performance.now() + TIMEOUT_MS;
    // Each look uses a new client: a client that got another leader does not ask again.
    while (!(await this.#with((admin) => areLed(admin, topics, performance.now() >= untilMs)))) {
      await sleep(LOOK_EVERY_MS);
    }
  }

  /**
   * Sets the given keys and leaves the others unchanged. The request of kafkajs replaces all
   * settings of a topic, so the present settings are read first and sent along.
   */
  async configure(topics: readonly Pick<NewTopic, "name" | "settings">[]): Promise<void> {
    if (topics.length === 0) return;
    await this.#with(async (admin) => {
      const { resources } = await admin.describeConfigs({
        includeSynonyms: false,
        resources: topics.map(({ name }) => ({ type: TOPIC_RESOURCE, name })),
      });
      const set = new Map(
        resources.map(({ resourceName, configEntries }) => [
          resourceName,
          Object.fromEntries(
            configEntries
              .filter(({ configSource }) => Number(configSource) === SET_FOR_TOPIC)
              .map(({ configName, configValue }) => [configName, configValue]),
          ),
        ]),
      );
      await admin.alterConfigs({
        validateOnly: false,
        resources: topics.map(({ name, settings }) => ({
          type: TOPIC_RESOURCE,
          name,
          configEntries: entriesOf({ ...set.get(name), ...settings }),
        })),
      });
    });
  }

  async #with<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
    const kafka = this.#newKafka();
    const admin = kafka.admin();
    try {
      await admin.connect();
      return await work(admin);
    } catch (error) {
      throw mapKafkaError(error, "changing the topics", addressesOf(kafka));
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  }
}

function entriesOf(settings: TopicSettings): { name: string; value: string }[] {
  return Object.entries(settings).map(([name, value]) => ({ name, value }));
}

/** @param isLast true: a topic that is still unknown is an error. */
async function areLed(admin: Admin, topics: string[], isLast: boolean): Promise<boolean> {
  try {
    await admin.fetchTopicMetadata({ topics });
    for (const topic of topics) await admin.fetchTopicOffsets(topic);
    return true;
  } catch (error) {
    const code = protocolCode(error);
    if (isLast || code === undefined || !STALE_METADATA_CODES.has(code)) throw error;
    return false;
  }
}
