import { isKafkaFetched, isRegistryFetched } from "../../../infra/local/fetch-parts.js";
import { findMissing } from "../../../infra/local/missing.js";
import { VERSIONS } from "../../../infra/local/versions.js";
import { saySkipped } from "../skipped.ts";
import type { PartName } from "./backend.ts";

const FETCH = "run `npm run infra:fetch`";

/** The version that `CALLGATE_TEST_KAFKA` names, else the newest, if it is in the cache. */
export function findFetchedKafka(): string | undefined {
  const wanted = process.env["CALLGATE_TEST_KAFKA"];
  const lines = wanted === undefined ? [VERSIONS.kafkaDefault, "3.9"] : [wanted];
  return lines.find((line) => isKafkaFetched(line));
}

/**
 * `CALLGATE_TEST_TRANSACTION_VERSION`: the protocol of transactions, 0 or 2; by default that of the
 * version.
 */
export function wantedTransactionVersion(): number | undefined {
  const wanted = process.env["CALLGATE_TEST_TRANSACTION_VERSION"];
  return wanted === undefined ? undefined : Number(wanted);
}

/** `CALLGATE_TEST_BROKERS`: brokers of the shared cluster, 1 or 3; topics have as many replicas. */
export function wantedBrokers(): number {
  return Number(process.env["CALLGATE_TEST_BROKERS"] ?? "1");
}

/** Why the part cannot be started here without a download; undefined: it can be. */
export function findObstacle(part: PartName): string | undefined {
  if (part === "redis") return findMissing("redis-server");
  const java = findMissing("java");
  if (java !== undefined) return java;
  const fetched = part === "kafka" ? findFetchedKafka() !== undefined : isRegistryFetched();
  return fetched ? undefined : `${part} is not in the cache: ${FETCH}`;
}

/**
 * For tests that stop, kill or fill a part of their own, started with `infra/local/start-*.js`.
 * Throws when one is absent but required.
 */
export function localParts(parts: readonly PartName[]): {
  readonly available: boolean;
  readonly reason: string;
} {
  for (const part of parts) {
    const obstacle = findObstacle(part);
    if (obstacle !== undefined) {
      saySkipped(part, obstacle);
      return { available: false, reason: obstacle };
    }
  }
  return { available: true, reason: "" };
}
