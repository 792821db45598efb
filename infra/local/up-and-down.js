// `infra:up` starts parts that go on when the command has ended; `infra:down` ends them.
import { join } from "node:path";
import { endChild, letOutlive } from "./child.js";
import { fetchKafka, fetchRegistry } from "./fetch-parts.js";
import { runFolder } from "./folders.js";
import { findMissing, MissingError } from "./missing.js";
import { findGone, readState, removeRun, writeState } from "./run-state.js";
import { startKafka } from "./start-kafka.js";
import { startRedis } from "./start-redis.js";
import { startRegistry } from "./start-registry.js";
import { kafkaLine, VERSIONS } from "./versions.js";

/**
 * @typedef {import("./parse-options.js").InfraOptions} InfraOptions
 * @typedef {import("./run-state.js").RunningPart} RunningPart
 */

const REDIS_PORT_AFTER = 100;
const REGISTRY_PORT_AFTER = 101;

/**
 * Throws an error that names everything that is missing, before anything is started or fetched.
 * @param {InfraOptions} options
 */
export function fetchParts({ only, kafka }) {
  const needed = only.flatMap((part) => (part === "redis" ? ["redis-server"] : ["java"]));
  const missing = [...new Set(needed)].map(findMissing).filter((text) => text !== undefined);
  if (missing.length > 0) throw new MissingError(missing.join("; "));
  if (only.includes("kafka")) fetchKafka(kafka ?? VERSIONS.kafkaDefault);
  if (only.includes("registry")) fetchRegistry();
}

/**
 * Starts the parts that do not run yet, and writes each into the state file as soon as it is ready. A part
 * that runs with other options is an error.
 * @param {InfraOptions} options
 * @returns {Promise<RunningPart[]>} all that runs under this name
 */
export async function up(options) {
  const { name, only } = options;
  for (const part of readState(name)) assertSameOptions(part, options);
  const fallen = await endPartsThatFell(name);
  const running = readState(name);
  const wanted = only.filter((part) => !running.some((runningPart) => runningPart.part === part));
  fetchParts({ ...options, only: wanted });
  const starting = wanted.map(async (part) => {
    const start = STARTERS[/** @type {keyof typeof STARTERS} */ (part)];
    const started = await start(options, fallen.find((one) => one.part === part)?.ports);
    running.push(started);
    writeState(name, running);
    for (const entry of started.processes) letOutlive(entry);
  });
  const failed = (await Promise.allSettled(starting)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") {
    throw failed.reason;
  }
  return running;
}

/**
 * @param {string} name
 * @returns {Promise<RunningPart[]>} what was ended
 */
export async function down(name) {
  const parts = readState(name);
  const processes = parts.flatMap((part) => part.processes);
  await Promise.all(processes.map((entry) => endChild(entry)));
  removeRun(name);
  return parts;
}

/**
 * Restarts each part of which a process has ended by itself, at its address; Kafka on the data that it had.
 * @param {string} name
 * @returns {Promise<RunningPart[]>} those parts
 */
async function endPartsThatFell(name) {
  const parts = readState(name);
  const fallen = parts.filter((part) => findGone(part).length > 0);
  for (const { part, processes } of fallen) {
    process.stderr.write(`callgate: ${part} has ended by itself and is started again\n`);
    await Promise.all(processes.map((entry) => endChild(entry)));
  }
  if (fallen.length > 0)
    writeState(
      name,
      parts.filter((part) => !fallen.includes(part)),
    );
  return fallen;
}

/** @param {InfraOptions} options */
function aboutKafka({ kafka, brokers, transactionVersion, properties }) {
  const { version } = kafkaLine(kafka ?? VERSIONS.kafkaDefault);
  return { version, brokers, transactionVersion: transactionVersion ?? null, properties };
}

/**
 * @param {RunningPart} part
 * @param {InfraOptions} options
 */
function assertSameOptions({ part, about }, options) {
  if (part !== "kafka" || !options.only.includes("kafka")) return;
  if (JSON.stringify(about) === JSON.stringify(aboutKafka(options))) return;
  throw new Error(
    "Kafka runs with other options, or has ended by itself and left its data: run `npm run infra:down` first, or give another --name",
  );
}

const STARTERS = {
  /**
   * @param {InfraOptions} options
   * @param {readonly number[] | undefined} ports
   */
  kafka: async (options, ports) => {
    const kafka = await startKafka({
      version: options.kafka ?? VERSIONS.kafkaDefault,
      transactionVersion: options.transactionVersion,
      brokers: options.brokers,
      properties: options.properties,
      port: options.port,
      ports,
      folder: join(runFolder(options.name), "kafka"),
      keepFolder: true,
    });
    const processes = kafka.brokers.map((broker, index) => {
      const address = kafka.bootstrap[index] ?? "";
      return { name: `broker ${broker.id}`, address, ...broker.identity() };
    });
    const address = kafka.bootstrap.join(",");
    return { part: "kafka", address, about: aboutKafka(options), ports: kafka.ports, processes };
  },
  /**
   * @param {InfraOptions} options
   * @param {readonly number[] | undefined} ports
   */
  redis: async ({ name, port }, ports) => {
    const redis = await startRedis({
      port: ports?.[0] ?? (port === undefined ? undefined : port + REDIS_PORT_AFTER),
      folder: join(runFolder(name), "redis"),
      keepFolder: true,
    });
    return describeSingle("redis", redis);
  },
  /**
   * @param {InfraOptions} options
   * @param {readonly number[] | undefined} ports
   */
  registry: async ({ name, port }, ports) => {
    const registry = await startRegistry({
      port: ports?.[0] ?? (port === undefined ? undefined : port + REGISTRY_PORT_AFTER),
      folder: join(runFolder(name), "registry"),
      keepFolder: true,
    });
    return describeSingle("registry", registry);
  },
};

/**
 * @param {string} part
 * @param {{ url: string, identity(): import("./process-identity.js").ProcessIdentity }} started
 * @returns {RunningPart}
 */
function describeSingle(part, started) {
  const { url } = started;
  return {
    part,
    address: url,
    about: {},
    ports: [Number(new URL(url).port)],
    processes: [{ name: part, address: url, ...started.identity() }],
  };
}
