import { askForPart } from "./backend.ts";

export type KafkaBackend = {
  readonly available: boolean;
  /** `host:port` of brokers; empty when there is none. */
  readonly brokers: readonly string[];
  /** Why it is not available; empty when it is. */
  readonly reason: string;
};

/**
 * The Kafka of this run, shared by all its tests: name topics, groups and transactional ids with
 * `uniqueName`. Use as `describe.skipIf(!kafka.available)(...)`. Throws when it is absent but required.
 */
export async function kafkaBackend(): Promise<KafkaBackend> {
  const { available, address, reason } = await askForPart("kafka");
  return { available, brokers: available ? address.split(",") : [], reason };
}
