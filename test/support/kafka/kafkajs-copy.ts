import type * as Kafkajs from "kafkajs";
import { PrivatePackage } from "../../../services/adapters/kafka/patches/private-package.ts";

/** So many that what is tried again at all is, and so few that they end soon. */
export const RETRIES = 10;
const RETRY = { initialRetryTime: 3, maxRetryTime: 50, retries: RETRIES } as const;

/** A client of kafkajs as it is published, but for what `patch` does to this copy of it, which nobody else has. */
export function kafkajsClient(
  brokers: readonly string[],
  patch: (copy: PrivatePackage) => void = () => undefined,
): Kafkajs.Kafka {
  const copy = new PrivatePackage("kafkajs");
  patch(copy);
  const { Kafka, logLevel } = copy.load() as typeof Kafkajs;
  const logging = { logLevel: logLevel.NOTHING };
  return new Kafka({ ...logging, brokers: [...brokers], clientId: "test", retry: RETRY });
}
