import type { TopicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import {
  KafkaOwnership,
  type OwnershipContext,
} from "../../../services/adapters/kafka/transactions/kafka-ownership.ts";
import { uniqueName } from "../backends/unique-name.ts";
import { connectKafka } from "./test-cluster.ts";

const BATCH_BYTES_MAX = 1024 * 1024;

export type OwnershipChoices = {
  readonly app?: string;
  readonly group?: string;
  readonly transactionTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  readonly written?: NonNullable<OwnershipContext["written"]>;
};

/** An ownership without a group: every partition is ours until somebody fences us. */
export function ownAlone(
  brokers: readonly string[],
  names: TopicNames,
  choices: OwnershipChoices = {},
): KafkaOwnership {
  const { requestTimeoutMs } = choices;
  const kafkaSettings = requestTimeoutMs === undefined ? {} : { requestTimeoutMs };
  return new KafkaOwnership({
    settings: {
      app: choices.app ?? uniqueName("app"),
      group: choices.group ?? uniqueName("group"),
      transactionTimeoutMs: choices.transactionTimeoutMs ?? 10_000,
    },
    names,
    newKafka: () => connectKafka(brokers, kafkaSettings),
    membership: {
      grantOf: (partition) => ({ partition, epoch: 1 }),
      isCurrent: () => true,
      confirm: async () => true,
    },
    messageBytesMax: () => BATCH_BYTES_MAX,
    metrics: { count: () => undefined, observe: () => undefined },
    ...(choices.written === undefined ? {} : { written: choices.written }),
  });
}
