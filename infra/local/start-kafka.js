// Starts real Kafka brokers on 127.0.0.1, from jars, without Docker.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { endChild, removeAtEnd, startChild, waitUntilGone, waitUntilReady } from "./child.js";
import { makeClusterId, readClusterId } from "./cluster-id.js";
import { isKafkaFetched, kafkaLibs } from "./fetch-parts.js";
import { findFreePorts } from "./free-ports.js";
import { brokerProperties, LOGGING } from "./kafka-properties.js";
import { assertKafkaReady } from "./kafka-ready.js";
import { MissingError, requirePrograms } from "./missing.js";
import { isAlive, killIfSame } from "./process-identity.js";
import { kafkaLine, VERSIONS } from "./versions.js";

const HOST = "127.0.0.1";
const PORTS_EACH = 3;
const HEAP_MB = 512;
/** The second compiler takes half of the CPU time of a start, and pays only where a broker is busy for long. */
const SHORT_LIVED = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];
const READY_WITHIN_MS = 240_000;

/**
 * @typedef {import("./child.js").ProcessIdentity} ProcessIdentity
 * @typedef {import("./kafka-properties.js").BrokerPorts} BrokerPorts
 * @typedef {import("./kafka-properties.js").Address} Address
 *
 * @typedef {{
 *   version?: string,
 *   transactionVersion?: number | undefined,
 *   brokers?: number,
 *   properties?: Readonly<Record<string, string | number>>,
 *   scram?: readonly string[],
 *   port?: number | undefined,
 *   ports?: readonly number[] | undefined,
 *   folder?: string,
 *   heapMb?: number,
 *   isMeasured?: boolean,
 *   keepFolder?: boolean,
 *   advertise?: (broker: { id: number, port: number }) => Address | Promise<Address>,
 * }} KafkaOptions `version`: a key of `versions.json` or a full version. `properties` override ours.
 *   `scram`: users that exist from the start, such as `SCRAM-SHA-256=[name=a,password=b]`.
 *   `port`: of the first broker; each has three in a row; by default free ones. `ports`: all of them, as an
 *   earlier start reported them. `folder`: created, and removed by `stop`; by default a temporary one; data
 *   of killed brokers is used again. `keepFolder`: the folder stays when this process ends. `isMeasured`:
 *   brokers compile their code as in production; by default they start in half of the CPU time and are slower
 *   once they are warm. `advertise`: the address of a broker that clients get, such as that of a proxy.
 *
 * @typedef {{
 *   readonly id: number,
 *   readonly pid: number,
 *   readonly port: number,
 *   readonly direct: string,
 *   identity(): ProcessIdentity,
 *   isAlive(): boolean,
 *   kill(signal?: NodeJS.Signals): boolean,
 *   waitForExit(): Promise<void>,
 *   restart(options?: { signal?: NodeJS.Signals, waitUntilReady?: boolean }): Promise<void>,
 * }} LocalBroker `kill` sends a signal (SIGKILL by default) and does not wait; `restart` ends what runs
 *   (SIGKILL by default), starts it on the same port and data, and waits until the whole cluster is ready,
 *   every replica in sync; not so with `waitUntilReady: false`.
 *
 * @typedef {{
 *   readonly version: string,
 *   readonly bootstrap: readonly string[],
 *   readonly directBootstrap: readonly string[],
 *   readonly brokers: readonly LocalBroker[],
 *   readonly ports: readonly number[],
 *   readonly folder: string,
 *   readonly libs: string,
 *   waitUntilReady(): Promise<void>,
 *   stop(): Promise<void>,
 * }} LocalKafka `bootstrap` leads to the advertised addresses, `directBootstrap` to the brokers themselves.
 *   `libs`: the folder of Kafka's jars, Java client included.
 */

/**
 * Starts brokers and waits until a transaction and a group offset commit succeed on them.
 * Throws `MissingError` when Java or the jars are not there: `npm run infra:fetch` gets them.
 * @param {KafkaOptions} [options]
 * @returns {Promise<LocalKafka>}
 */
export async function startKafka(options = {}) {
  const version = options.version ?? VERSIONS.kafkaDefault;
  requirePrograms(["java"]);
  if (!isKafkaFetched(version)) {
    const { version: full } = kafkaLine(version);
    throw new MissingError(`Kafka ${full} is not in the cache: run \`npm run infra:fetch\``);
  }
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "callgate-kafka-"));
  mkdirSync(folder, { recursive: true });
  if (options.keepFolder !== true) removeAtEnd(folder);
  for (const [name, text] of Object.entries(LOGGING)) writeFileSync(join(folder, name), text);
  const ports = await choosePorts(options);
  const brokers = ports.map(
    (broker) => new Broker({ ...options, version, folder, broker, all: ports }),
  );
  const storedClusterId = brokers.map((broker) => readClusterId(broker.dataFolder)).find(Boolean);
  const end = () => Promise.all(brokers.map((broker) => broker.end()));
  const stop = async () => {
    await end();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  try {
    const clusterId = storedClusterId ?? makeClusterId();
    await Promise.all(brokers.map((broker) => broker.format(clusterId)));
    await Promise.all(brokers.map((broker) => broker.start()));
    await brokers[0]?.waitUntilReady();
  } catch (error) {
    // A folder of an earlier start is not ours to remove.
    await (storedClusterId === undefined ? stop() : end());
    throw error;
  }
  return {
    version: kafkaLine(version).version,
    bootstrap: ports.map(({ advertised }) => `${advertised.host}:${advertised.port}`),
    directBootstrap: ports.map(({ directPort }) => `${HOST}:${directPort}`),
    brokers,
    ports: ports.flatMap(({ port, directPort, controllerPort }) => [
      port,
      directPort,
      controllerPort,
    ]),
    folder,
    libs: kafkaLibs(version),
    waitUntilReady: () => /** @type {Broker} */ (brokers[0]).waitUntilReady(),
    stop,
  };
}

/**
 * @param {KafkaOptions} options
 * @returns {Promise<readonly BrokerPorts[]>}
 */
async function choosePorts({ brokers = 1, port: first, ports, advertise }) {
  const count = brokers * PORTS_EACH;
  const inARow = (/** @type {number} */ port) =>
    Array.from({ length: count }, (_, index) => port + index);
  const free = ports ?? (first === undefined ? await findFreePorts(count) : inARow(first));
  const chosen = [];
  for (let index = 0; index < brokers; index += 1) {
    const [port = 0, directPort = 0, controllerPort = 0] = free.slice(index * PORTS_EACH);
    const id = index + 1;
    const advertised = (await advertise?.({ id, port })) ?? { host: HOST, port };
    chosen.push({ id, port, directPort, controllerPort, advertised });
  }
  return chosen;
}

/** @typedef {KafkaOptions & {
 *   version: string, folder: string, broker: BrokerPorts, all: readonly BrokerPorts[],
 * }} BrokerOptions */

/** @implements {LocalBroker} */
class Broker {
  /** @type {BrokerOptions} */
  #options;
  /** @type {ProcessIdentity} */
  #identity = { pid: 0, startedAt: "" };
  #propertiesFile;
  #logFile;

  /** @param {BrokerOptions} options */
  constructor(options) {
    const { folder, broker, all, properties = {}, version } = options;
    this.#options = options;
    this.#propertiesFile = join(folder, `server-${broker.id}.properties`);
    this.#logFile = join(folder, `server-${broker.id}.log`);
    const dataFolder = join(folder, `data-${broker.id}`);
    this.dataFolder = dataFolder;
    const hasShareGroups = !kafkaLine(version).version.startsWith("3.");
    const text = brokerProperties({ broker, all, dataFolder, hasShareGroups, properties });
    writeFileSync(this.#propertiesFile, text);
  }

  get id() {
    return this.#options.broker.id;
  }

  get port() {
    return this.#options.broker.port;
  }

  get pid() {
    return this.#identity.pid;
  }

  get direct() {
    return `${HOST}:${this.#options.broker.directPort}`;
  }

  identity() {
    return this.#identity;
  }

  isAlive() {
    return isAlive(this.#identity);
  }

  /** @param {string[]} jvmOptions */
  #java(jvmOptions) {
    const { folder, version } = this.#options;
    return [
      ...jvmOptions,
      `-Dlog4j.configuration=file:${join(folder, "log4j.properties")}`,
      `-Dlog4j2.configurationFile=${join(folder, "log4j2.properties")}`,
      "-cp",
      join(kafkaLibs(version), "*"),
    ];
  }

  /**
   * Once, before the first start.
   * @param {string} clusterId the same for all brokers of a cluster
   */
  async format(clusterId) {
    const { transactionVersion, scram = [] } = this.#options;
    const args = ["format", "--ignore-formatted", "-t", clusterId, "-c", this.#propertiesFile];
    if (transactionVersion !== undefined) {
      args.push("--feature", `transaction.version=${transactionVersion}`);
    }
    for (const user of scram) args.push("--add-scram", user);
    const java = this.#java(SHORT_LIVED);
    await promisify(execFile)("java", [...java, "kafka.tools.StorageTool", ...args]);
  }

  async start() {
    const { heapMb = HEAP_MB, isMeasured = false } = this.#options;
    const compiling = isMeasured ? [] : SHORT_LIVED;
    const heap = [`-Xms${heapMb}m`, `-Xmx${heapMb}m`];
    const java = this.#java([...compiling, ...heap, "-Djava.awt.headless=true"]);
    const args = [...java, "kafka.Kafka", this.#propertiesFile];
    this.#identity = await startChild({ command: "java", args, logFile: this.#logFile });
  }

  async waitUntilReady() {
    const { all } = this.#options;
    const what = `Kafka broker ${this.id}`;
    const context = { identity: this.#identity, what, logFile: this.#logFile };
    await waitUntilReady({ ...context, withinMs: READY_WITHIN_MS }, () =>
      assertKafkaReady({ bootstrap: [this.direct], brokers: all.length }),
    );
  }

  /** @param {NodeJS.Signals} [signal] */
  kill(signal = "SIGKILL") {
    return killIfSame(this.#identity, signal);
  }

  waitForExit() {
    return waitUntilGone(this.#identity);
  }

  /** @param {NodeJS.Signals} [signal] */
  async end(signal) {
    await endChild(this.#identity, signal);
  }

  /** @param {{ signal?: NodeJS.Signals, waitUntilReady?: boolean }} [options] */
  async restart({ signal = "SIGKILL", waitUntilReady: wait = true } = {}) {
    await this.end(signal);
    await this.start();
    if (wait) await this.waitUntilReady();
  }
}
