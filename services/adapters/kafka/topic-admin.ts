/** Makes topics and sets what is configured for them. */
import type { Admin, Kafka } from "kafkajs";
import { mapKafkaError } from "./map-error.ts";

export type TopicSettings = Readonly<Record<string, string>>;

export type NewTopic = {
  readonly name: string;
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly settings: TopicSettings;
};

const TOPIC_RESOURCE = 2;
/** What was set for the topic itself, in `configSource` of a described entry. */
const SET_FOR_TOPIC = 1;
const TIMEOUT_MS = 30_000;

export class KafkaTopicAdmin {
  readonly #newKafka: () => Kafka;

  constructor(newKafka: () => Kafka) {
    this.#newKafka = newKafka;
  }

  /** How many brokers there are to spread replicas over. */
  async countBrokers(): Promise<number> {
    return await this.#with(async (admin) => (await admin.describeCluster()).brokers.length);
  }

  /** @throws RetryableError, FatalError where one of them cannot be made. */
  async create(topics: readonly NewTopic[]): Promise<void> {
    if (topics.length === 0) return;
    await this.#with((admin) =>
      admin.createTopics({
        waitForLeaders: true,
        timeout: TIMEOUT_MS,
        topics: topics.map(({ name, partitions, replicationFactor, settings }) => ({
          topic: name,
          numPartitions: partitions,
          replicationFactor,
          configEntries: entriesOf(settings),
        })),
      }),
    );
  }

  /**
   * Sets the given keys and leaves the others. The request that kafkajs knows replaces all that is set for
   * a topic, so what is set already is read first and sent along.
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
    const admin = this.#newKafka().admin();
    try {
      await admin.connect();
      return await work(admin);
    } catch (error) {
      throw mapKafkaError(error, "changing the topics");
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  }
}

function entriesOf(settings: TopicSettings): { name: string; value: string }[] {
  return Object.entries(settings).map(([name, value]) => ({ name, value }));
}
