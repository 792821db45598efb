/** Opens the log of a cluster and the codec of its records, as every process on Kafka does. */

import type { Config } from "../adapters/config/config-schema.ts";
import { createKafka, type KafkaSettings } from "../adapters/kafka/client.ts";
import { type KafkaLog, openKafkaLog } from "../adapters/kafka/kafka-log.ts";
import type { TopicNames } from "../adapters/kafka/topics/topic-names.ts";
import type { Logger } from "../runtime/ports.ts";
import type { AvroCodec } from "../wire/codec.ts";
import { kafkaSettings, topicNamesOf } from "./kafka-settings.ts";
import { openCodec } from "./open-codec.ts";

export type OpenedCluster = {
  readonly log: KafkaLog;
  readonly codec: AvroCodec;
  readonly names: TopicNames;
  /** Makes a client; each role and each group has its own. */
  readonly newKafka: (
    other?: Partial<Pick<KafkaSettings, "requestTimeoutMs">>,
  ) => ReturnType<typeof createKafka>;
  close(): Promise<void>;
  /** Like `close`, where the brokers do not answer: waits for nothing. */
  abandon(): void;
};

/**
 * @param secrets secrets for idempotency keys, by key id; may be empty where none are made.
 * @throws PipelineError: retryable where brokers or registry do not answer; else its message says
 *   how to fix it.
 */
export async function openCluster(
  config: Config,
  secrets: ReadonlyMap<string, Uint8Array>,
  logger: Logger,
): Promise<OpenedCluster> {
  const settings = kafkaSettings(config);
  const names = topicNamesOf(config);
  const newKafka: OpenedCluster["newKafka"] = (other = {}) =>
    createKafka({ ...settings, ...other }, logger);
  const { clientId, requestTimeoutMs } = settings;
  // Topics first: schemas are registered under their names.
  const log = await openKafkaLog({ kafka: newKafka(), names, clientId, requestTimeoutMs });
  try {
    const opened = await openCodec(config, names, secrets);
    const close = async (): Promise<void> => {
      await log.close();
      opened.close();
    };
    const abandon = (): void => {
      log.abandon();
      opened.close();
    };
    return { log, codec: opened.codec, names, newKafka, close, abandon };
  } catch (error) {
    await log.close();
    throw error;
  }
}
