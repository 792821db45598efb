// `npm run test:kafka-matrix`: runs the Kafka tests on every supported kind of cluster: both versions of
// Kafka, both protocols of transactions, one broker and three. `--short` runs the part for each change: the
// tests that commit, fence and take over, on the clusters that the other tests do not use. Exit codes: 1 a
// test failed, 3 a version of Kafka is missing.
import { spawnSync } from "node:child_process";
import { isKafkaFetched } from "../infra/local/fetch-parts.js";
import { findMissing } from "../infra/local/missing.js";
import { ensureInstalled, ROOT } from "./ensure-installed.js";
import { runnerOptions } from "./runner-options.js";

/** @typedef {{ kafka: "3.9" | "4", transactions: 0 | 2, brokers: 1 | 3 }} Cluster */

const EXIT_FAILED = 1;
const EXIT_MISSING = 3;

/** Kafka 3.9 calls version 2 of transactions unstable, so that pair is left out. @type {Cluster[]} */
const CLUSTERS = [
  { kafka: "4", transactions: 2, brokers: 1 },
  { kafka: "4", transactions: 0, brokers: 1 },
  { kafka: "4", transactions: 2, brokers: 3 },
  { kafka: "4", transactions: 0, brokers: 3 },
  { kafka: "3.9", transactions: 0, brokers: 1 },
  { kafka: "3.9", transactions: 0, brokers: 3 },
];
/** @type {Cluster[]} */
const SHORT = [{ kafka: "4", transactions: 0, brokers: 1 }];
const EVERYTHING = [
  "test/integration/kafka",
  "test/integration/backends",
  "test/conformance/ports/kafka",
];
const TRANSACTIONS = [
  "test/integration/kafka/gate-hosts",
  "test/integration/kafka/lost-answers",
  "test/integration/kafka/membership",
  "test/integration/kafka/paused-gate",
  "test/conformance/ports/kafka",
];

/** @param {Cluster} cluster */
const nameOf = ({ kafka, transactions, brokers }) =>
  `Kafka ${kafka}, transaction.version ${transactions}, ${brokers === 1 ? "one broker" : "three brokers"}`;

/**
 * @param {string[]} args
 * @param {Readonly<Record<string, string>>} [env]
 * @returns {boolean} whether it ended with exit code 0
 */
function runs(args, env = {}) {
  const { status } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, CALLGATE_REQUIRE: "kafka", ...env },
  });
  return status === 0;
}

/**
 * @param {Cluster} cluster
 * @param {readonly string[]} files
 */
function passes({ kafka, transactions, brokers }, files) {
  const projects = ["--project", "integration", "--project", "conformance"];
  return runs(["tasks/test.js", ...projects, ...files], {
    CALLGATE_TEST_KAFKA: kafka,
    CALLGATE_TEST_TRANSACTION_VERSION: String(transactions),
    CALLGATE_TEST_BROKERS: String(brokers),
  });
}

/** Brokers that die one after the other, with replication 3. @param {Cluster} cluster */
function survives({ kafka, transactions }) {
  const options = ["--kafka", kafka, "--transaction-version", String(transactions)];
  const tsx = "node_modules/tsx/dist/cli.mjs";
  return runs([tsx, "test/faults/run.ts", "--row", "three brokers", ...options]);
}

ensureInstalled();
const { short: isShort } = runnerOptions("test:kafka-matrix", { short: { type: "boolean" } });
const clusters = isShort ? SHORT : CLUSTERS;
const obstacle =
  findMissing("java") ??
  clusters
    .filter(({ kafka }) => !isKafkaFetched(kafka))
    .map(
      ({ kafka }) =>
        `Kafka ${kafka} is not in the cache: run \`npm run infra:fetch -- --kafka ${kafka}\``,
    )
    .at(0);
if (obstacle !== undefined) {
  process.stderr.write(`callgate: ${obstacle}\n`);
  process.exit(EXIT_MISSING);
}
/** @type {string[]} */
const lines = [];
for (const cluster of clusters) {
  process.stdout.write(`\n== ${nameOf(cluster)}\n`);
  const ok =
    passes(cluster, isShort ? TRANSACTIONS : EVERYTHING) &&
    (isShort || cluster.brokers === 1 || survives(cluster));
  if (!ok) process.exitCode = EXIT_FAILED;
  lines.push(`${ok ? "ok    " : "FAILED"} ${nameOf(cluster)}`);
}
process.stdout.write(`\n${lines.join("\n")}\n`);
