// `npm run demo:kafka [-- --keep]`: runs the demo through gate, executor, agent and analytics, each a process
// of its own, on a real Kafka with schema registry and Redis. It starts all of them, and ends them at its end.
// Exit codes: 1 the demo did not go as it should; 2 usage; 3 the machine lacks Java, Maven or Redis.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { ensureInstalled, ROOT } from "./ensure-installed.js";

const MISSING = 3;
const USAGE = 2;
const SECRET_BYTES = 32;
const MS_PER_SECOND = 1_000;
const PARTITIONS = 4;
const ANALYSED_WITHIN_MS = 30_000;
const POLL_MS = 100;

const FOLDER = join(ROOT, ".callgate", "demo-kafka");
const CONFIG = join(FOLDER, "callgate.json");
const COUNTS = "SELECT kind, count(*)::INT AS calls FROM decisions GROUP BY kind";

const args = process.argv.slice(2);
const hasKeepOption = args.includes("--keep");
if (args.some((arg) => arg !== "--keep")) {
  process.stderr.write(
    "demo:kafka: the only option is --keep, which leaves everything running until Ctrl-C\n",
  );
  process.exit(USAGE);
}

ensureInstalled();
const { findMissing, MissingError } = await import("../infra/local/missing.js");
const { isKafkaFetched, isRegistryFetched } = await import("../infra/local/fetch-parts.js");
const { COMMAND, startCallgate } = await import("../infra/local/start-callgate.js");
const { startKafka } = await import("../infra/local/start-kafka.js");
const { startRedis } = await import("../infra/local/start-redis.js");
const { startRegistry } = await import("../infra/local/start-registry.js");
const { VERSIONS } = await import("../infra/local/versions.js");
const { ensureBuilt } = await import("./ensure-built.js");

/** @param {string} text */
const print = (text) => process.stdout.write(`${text}\n`);

/** A path as somebody in the root of the checkout types it. @param {string} path */
const typed = (path) => relative(ROOT, path);

/** Throws an error that names every part that needs a download or an installation first. */
function requireParts() {
  const missing = ["java", "redis-server"].map(findMissing).filter((text) => text !== undefined);
  const jars = isKafkaFetched(VERSIONS.kafkaDefault) && isRegistryFetched();
  if (!jars) missing.push("Kafka and registry are not in the cache: run `npm run infra:fetch`");
  if (missing.length > 0) throw new MissingError(missing.join("; "));
}

/** @param {Record<string, unknown>} addresses sections of the configuration */
function writeConfig(addresses) {
  const { kafka, ...others } = addresses;
  const config = {
    kafka: { .../** @type {object} */ (kafka), app: "demo" },
    ...others,
    policy: { files: [join(ROOT, "infra", "policies", "demo.yaml")] },
    secret: { value: randomBytes(SECRET_BYTES).toString("base64") },
    http: { port: 0 },
    executor: { handlers: join(ROOT, "infra", "handlers", "demo-world.mjs") },
    analytics: { directory: join(FOLDER, "analytics"), persistMs: 1_000, segmentMs: 1_000 },
  };
  writeFileSync(CONFIG, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600 });
}

/** @type {Set<import("node:child_process").ChildProcess>} */
const commands = new Set();

/**
 * Runs one of our commands to its end.
 * @param {readonly string[]} words
 * @param {{ shown?: boolean }} [options] `shown`: the command uses our terminal
 * @returns {Promise<{ code: number, stdout: string }>}
 */
function run(words, { shown = false } = {}) {
  /** @type {import("node:child_process").StdioOptions} */
  const stdio = shown ? "inherit" : ["ignore", "pipe", 2];
  const child = spawn(process.execPath, [COMMAND, ...words], { cwd: ROOT, stdio });
  commands.add(child);
  let stdout = "";
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      commands.delete(child);
      resolve({ code: code ?? 1, stdout: signal === null ? stdout : `${stdout}${signal}` });
    });
  });
}

/** @param {readonly string[]} words */
async function runQuietly(words) {
  const { code, stdout } = await run(words);
  if (code !== 0) throw new Error(`\`callgate ${words.join(" ")}\` ended with ${code}:\n${stdout}`);
  return stdout;
}

/** Waits until the action returns a value. @template T @param {() => Promise<T | undefined>} action */
async function until(action) {
  for (const untilMs = Date.now() + ANALYSED_WITHIN_MS; Date.now() < untilMs; ) {
    const result = await action();
    if (result !== undefined) return result;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return undefined;
}

/** @typedef {{ allowed: number, refused: number, held: number }} Counts */

/**
 * @param {import("../infra/local/start-callgate.js").LocalCallgate} analytics
 * @returns {Promise<boolean>} whether it has read all records
 */
async function hasRead(analytics) {
  const metrics = await analytics.get("/metrics");
  const lags = [...metrics.matchAll(/^callgate_analytics_lag_records\{[^}]*\} (\d+)$/gm)];
  return lags.length === PARTITIONS && lags.every(([, lag]) => lag === "0");
}

/** @returns {Promise<Counts>} */
async function countDecisions() {
  const directory = join(FOLDER, "analytics");
  const text = await runQuietly(["analytics", "query", COUNTS, "--dir", directory, "--json"]);
  /** @type {{ kind: string, calls: number }[]} */
  const rows = JSON.parse(text);
  const count = (/** @type {string} */ kind) =>
    Number(rows.find((row) => row.kind === kind)?.calls ?? 0);
  return { allowed: count("allowed"), refused: count("refused"), held: count("held") };
}

/** The effects of the tools, as the executor counts them. */
function readWorld() {
  const file = join(FOLDER, "world.json");
  // The first effect creates the file.
  if (!existsSync(file)) return { documents: [], bills: [], payments: [], deletions: [] };
  const world = JSON.parse(readFileSync(file, "utf8"));
  const { documents, bills, payments, deletions } = world;
  return { documents, bills, payments, deletions };
}

/** @type {(() => Promise<void>)[]} newest first */
const started = [];

/** @template {{ stop(): Promise<void> }} T @param {Promise<T>} starting */
async function registerPart(starting) {
  const part = await starting;
  started.unshift(() => part.stop());
  return part;
}

async function startParts() {
  const startedAt = performance.now();
  print("Starting a Kafka broker, a schema registry and Redis on 127.0.0.1 …");
  const [kafka, registry, redis] = await Promise.all([
    registerPart(startKafka()),
    registerPart(startRegistry()),
    registerPart(startRedis()),
  ]);
  const brokers = [...kafka.bootstrap];
  writeConfig({
    kafka: { brokers },
    registry: { url: registry.url, register: true },
    redis: { url: redis.url },
  });
  const seconds = () => `${Math.round((performance.now() - startedAt) / MS_PER_SECOND)} s`;
  print(`Kafka ${kafka.version} is at ${brokers}, Redis at ${redis.url} (${seconds()}).`);
  await runQuietly(["topics", "apply", "--partitions", `${PARTITIONS}`, "--config", CONFIG]);
  await runQuietly(["schemas", "register", "--config", CONFIG]);
  const start = (/** @type {string} */ name, /** @type {string[]} */ command) =>
    registerPart(startCallgate({ name, args: [...command, "--config", CONFIG], folder: FOLDER }));
  const processes = await Promise.all([
    start("gate", ["gate"]),
    start("executor", ["executor"]),
    start("analytics", ["analytics", "run"]),
  ]);
  await Promise.all(processes.map((one) => one.waitUntilReady()));
  const [gate, executor, analytics] = processes;
  const pids = `gate ${gate.pid}, executor ${executor.pid}, analytics ${analytics.pid}`;
  print(`Topics and schemas are there, and the processes run: ${pids} (${seconds()}).\n`);
  return { analytics };
}

const DECISIONS = 31;
const HELD = 1;

/**
 * @param {import("../infra/local/start-callgate.js").LocalCallgate} analytics
 * @returns {Promise<readonly (readonly [what: string, holds: boolean, found: string])[]>}
 */
async function check(analytics) {
  const verified = await run(["verify", "--config", CONFIG]);
  const { documents, bills, payments, deletions } = readWorld();
  const world = [documents, bills, payments].map(({ length }) => length);
  const hasAll =
    (await until(async () => ((await hasRead(analytics)) ? true : undefined))) === true;
  await analytics.stop();
  const { allowed, refused, held } = await countDecisions();
  const changed = `${world[0]} documents, ${world[1]} bills, ${world[2]} payment, ${deletions.length} deletion`;
  const counted = `${allowed} allowed, ${refused} refused (answers from memory among them), ${held} held`;
  return [
    ["the executor ran what was allowed, once", `${world}` === "2,2,1", changed],
    [
      "the analytics count every decision, once",
      hasAll && allowed + refused + held === DECISIONS && held === HELD,
      counted,
    ],
    ["the journal is whole", verified.code === 0, verified.stdout.trim().split("\n").at(-1) ?? ""],
  ];
}

function tellWhere() {
  print("\nWhere things are:");
  print(`  ${typed(CONFIG)}: the configuration of all three`);
  print(`  ${typed(FOLDER)}/{gate,executor,analytics}.log: what they said`);
  print(`  ${typed(FOLDER)}/analytics: the decisions, for SQL`);
  print("What to try next:");
  const directory = `--dir ${typed(join(FOLDER, "analytics"))}`;
  print(`  npm run -s callgate -- analytics report ${directory}`);
  print("  npm run -s callgate -- analytics query \\");
  print(`      "SELECT tool, reason, count(*) FROM decisions GROUP BY ALL" ${directory}`);
  if (!hasKeepOption)
    print("  npm run demo:kafka -- --keep     # stays, for the commands above that need Kafka");
  print("  README.md, “Run it on Kafka”");
}

/** Resolves at the first SIGINT or SIGTERM. */
async function interrupted() {
  // Nothing else keeps this process alive: its children have no pipe to it.
  const timer = setInterval(() => undefined, MS_PER_SECOND);
  await new Promise((resolve) => process.once("SIGINT", resolve).once("SIGTERM", resolve));
  clearInterval(timer);
}

async function stopAll() {
  for (const stop of started.splice(0)) await stop();
}

async function main() {
  requireParts();
  await ensureBuilt();
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const startedAt = performance.now();
  const { analytics } = await startParts();
  const { code } = await run(["demo", "--config", CONFIG], { shown: true });
  const seconds = () => Math.round((performance.now() - startedAt) / MS_PER_SECOND);
  // The demo has printed why; there is nothing to check, and nothing to leave running.
  if (code === MISSING) {
    await stopAll();
    const logs = `${typed(FOLDER)}/{gate,executor,analytics}.log`;
    const verdict = `demo:kafka: not played to its end, ${seconds()} s`;
    print(`\n${verdict}; all that was started has ended, what it said is in ${logs}`);
    return MISSING;
  }
  const checks = await check(analytics);
  for (const [what, holds, actual] of checks) print(`${holds ? "✓" : "✗"} ${what} (${actual})`);
  tellWhere();
  const right = checks.filter(([, holds]) => holds).length + (code === 0 ? 1 : 0);
  const all = checks.length + 1;
  const verdict = `demo:kafka: ${right} of ${all} checks passed, ${DECISIONS} decisions, ${seconds()} s`;
  if (hasKeepOption) {
    print(`\n${verdict}; goes on until Ctrl-C`);
    await interrupted();
  }
  await stopAll();
  print(`\n${verdict}; all that was started has ended`);
  return right === all ? 0 : 1;
}

// Whatever is left when this process ends is ended by the reaper of infra/local.
if (!hasKeepOption) {
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) {
    process.once(signal, () => {
      for (const child of commands) child.kill("SIGKILL");
      process.exit(signal === "SIGINT" ? 130 : 143);
    });
  }
}
try {
  process.exitCode = await main();
} catch (error) {
  await stopAll();
  process.stderr.write(`demo:kafka: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof MissingError ? MISSING : 1;
}
