import type * as Kafkajs from "kafkajs";
import { PrivatePackage } from "../../../services/adapters/kafka/patches/private-package.ts";

/** Enough retries to show that a request is retried, and few enough to end soon. */
export const RETRIES = 10;
const RETRY = { initialRetryTime: 3, maxRetryTime: 50, retries: RETRIES } as const;

/** A client of a private copy of kafkajs, as published except for `patch`. */
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
