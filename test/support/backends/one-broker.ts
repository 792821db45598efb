import { afterAll } from "vitest";
import { startKafka } from "../../../infra/local/start-kafka.js";
import { type KafkaBackend, kafkaBackend } from "./kafka-backend.ts";
import { findFetchedKafka, wantedTransactionVersion } from "./local-parts.ts";

/**
 * A cluster of one broker, for tests whose proxy plays several in front of it: one that leads everything and coordinates
 * everyone. The one of this run where it has one broker, else one of their own of the same version.
 */
export async function oneBroker(): Promise<KafkaBackend> {
  const shared = await kafkaBackend();
  if (shared.brokers.length < 2) return shared;
  const version = findFetchedKafka();
  const transactionVersion = wantedTransactionVersion();
  const own = await startKafka({
    ...(version === undefined ? {} : { version }),
    ...(transactionVersion === undefined ? {} : { transactionVersion }),
  });
  afterAll(() => own.stop());
  return { available: true, brokers: own.bootstrap, reason: "" };
}
