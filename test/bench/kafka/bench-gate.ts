/** The gate as the bench of `../shared/bench` runs it: its topics, its tools, preset balanced. */
import { setTimeout as sleep } from "node:timers/promises";
import { secretFrom } from "../../../services/adapters/config/secret-file.ts";
import { createKafka, type KafkaSettings } from "../../../services/adapters/kafka/client.ts";
import { KafkaTopicAdmin } from "../../../services/adapters/kafka/topics/topic-admin.ts";
import { KafkaTopicInspector } from "../../../services/adapters/kafka/topics/topic-inspector.ts";
import type { TopicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import { createProcessMetrics } from "../../../services/adapters/metrics/process-metrics.ts";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import { capabilities } from "../../../services/gate/capabilities.ts";
import { compileGatePolicy, withSecret } from "../../../services/gate/gate-policy.ts";
import { type KafkaGate, openKafkaGate } from "../../../services/gate/open-kafka-gate.ts";
import { openStates } from "../../../services/gate/open-states.ts";
import { readPolicy } from "../../../services/library/read-policy.ts";
import type { Logger } from "../../../services/runtime/ports.ts";
import { quietLogger } from "../../../services/runtime/quiet-logger.ts";
import { type AvroCodec, createAvroCodec } from "../../../services/wire/codec.ts";

/** The environment that `../shared/bench` sets for the process under test. */
export type BenchSettings = {
  readonly brokers: readonly string[];
  /** Topic of the proposals, and what the names of the outputs begin with. */
  readonly input: string;
  readonly output: string;
  readonly group: string;
  readonly partitions: number;
  /** The Redis of the checkpoints; undefined: no checkpoints. */
  readonly redisUrl: string | undefined;
  /** Records between checkpoints. */
  readonly checkpointEvery: number;
  /** Of the state store; absent: all conversations stay in memory. */
  readonly stateDirectory?: string | undefined;
};

/** Nobody reports the calls, so their outcomes must not become unknown while the bench counts. */
const TIME_LIMIT_MS = 3_600_000;
const WRITES = [
  "book_reservation",
  "update_order_items",
  "send_message",
  "create_refund",
  "write_file",
];
const POLICY = {
  preset: "balanced",
  tool_schemas: {
    ...Object.fromEntries(WRITES.map((tool) => [tool, { time_limit_ms: TIME_LIMIT_MS }])),
    search_records: { read_only: true, time_limit_ms: TIME_LIMIT_MS },
  },
};

/** As the defaults of docs/configuration.md. */
export const SESSION_MS = 6_000;
const HEARTBEAT_MS = 300;
const TRANSACTION_MS = 10_000;
const LINGER_MS = 5;
const WARM_UP_MS = 1_000;
const CHECKPOINT_EVERY = 50_000;
const INPUTS_MAX = 500;
const BYTES_MAX = 2 * 1_024 * 1_024;
const REDIS_MS = 1_000;
const LOAD_MS_MAX = 30_000;
/** For conversations, where the gate has a state store. */
export const STATE_MEMORY_MIB = 512;
const TOPIC_LOOKS_MAX = 200;
const TOPIC_LOOK_MS = 50;

export function benchSettings(env: NodeJS.ProcessEnv): BenchSettings {
  const requireVariable = (name: string): string => {
    const value = env[name];
    if (value === undefined) throw new Error(`${name} is not set: run \`npm run bench:kafka\``);
    return value;
  };
  return {
    brokers: requireVariable("BROKERS").split(","),
    input: requireVariable("IN"),
    output: requireVariable("OUT"),
    group: requireVariable("GROUP"),
    partitions: Number(requireVariable("P")),
    redisUrl: env["REDIS_URL"],
    checkpointEvery: Number(env["CHECKPOINT_EVERY"] ?? CHECKPOINT_EVERY),
    stateDirectory: env["STATE_DIRECTORY"],
  };
}

export function kafkaOf({ brokers }: BenchSettings): KafkaSettings {
  return {
    ...{ brokers, clientId: "bench-gate", ssl: null, sasl: null },
    ...{ connectionTimeoutMs: 3_000, requestTimeoutMs: 30_000 },
  };
}

export function topicsOf({ input, output }: BenchSettings): TopicNames {
  return {
    proposals: input,
    results: `${output}-results`,
    verdicts: `${output}-verdicts`,
    allowed: `${output}-allowed`,
    refused: `${output}-refused`,
    held: `${output}-held`,
    decisions: `${output}-decisions`,
    deadLetters: `${output}-dead-letters`,
    alerts: `${output}-alerts`,
  };
}

/** Topics that the bench has not created. */
async function makeTopics(settings: BenchSettings): Promise<void> {
  const admin = new KafkaTopicAdmin(() => createKafka(kafkaOf(settings), quietLogger));
  const topic = { partitions: settings.partitions, replicationFactor: 1, settings: {} };
  const names = topicsOf(settings);
  await admin.create(Object.values(names).map((name) => ({ name, ...topic })));
  // If some topics exist already, kafkajs does not wait for the others.
  const inspector = new KafkaTopicInspector(
    () => createKafka(kafkaOf(settings), quietLogger),
    names,
  );
  for (let look = 0; look < TOPIC_LOOKS_MAX; look += 1) {
    if ((await inspector.describe()).every(({ partitions }) => partitions > 0)) return;
    await sleep(TOPIC_LOOK_MS);
  }
}

function benchSecret() {
  const secret = secretFrom("a secret for the bench alone");
  if (!secret.ok) throw new Error(secret.problem.message);
  return secret.secret;
}

/** `isFirst` is called with each input before it is read, until it returns true. */
export function benchCodec(isFirst: () => boolean = () => true): AvroCodec {
  const { keyId, bytes } = benchSecret();
  const codec = createAvroCodec({ secrets: new Map([[keyId, bytes]]) });
  let isAsked = true;
  return {
    ...codec,
    decodeInput: (topic, value) => {
      if (isAsked) isAsked = !isFirst();
      return codec.decodeInput(topic, value);
    },
  };
}

export function benchPolicy() {
  const compiled = compileGatePolicy(readPolicy({ document: POLICY }), capabilities);
  if (!compiled.ok) throw new Error(compiled.problems.map(({ message }) => message).join("; "));
  const { keyId, bytes } = benchSecret();
  return withSecret(compiled.policy, keyId, new Map([[keyId, bytes]])).compiled;
}

export type BenchGate = { readonly gate: KafkaGate; readonly close: () => Promise<void> };

/** Not started. */
export async function openBenchGate(
  settings: BenchSettings,
  codec: AvroCodec,
  logger: Logger,
): Promise<BenchGate> {
  await makeTopics(settings);
  const redis = await openBenchRedis(settings, logger);
  const directory = settings.stateDirectory;
  const memoryBytes = STATE_MEMORY_MIB * 1_024 * 1_024;
  const states = await openStates({ directory, memoryBytes }, systemClock);
  const gate = await openKafkaGate({
    ...{ kafka: kafkaOf(settings), names: topicsOf(settings), app: "bench" },
    ...{ group: settings.group, codec, clock: systemClock, logger, policy: benchPolicy() },
    metrics: createProcessMetrics("gate"),
    sessionTimeoutMs: SESSION_MS,
    heartbeatIntervalMs: HEARTBEAT_MS,
    transactionTimeoutMs: TRANSACTION_MS,
    ...{ checkpoints: (log) => redis?.checkpoints(log) ?? null, states },
    warmUpMs: WARM_UP_MS,
    tuning: {
      batch: { inputsMax: INPUTS_MAX, bytesMax: BYTES_MAX },
      lingerMs: LINGER_MS,
      checkpointEvery: settings.checkpointEvery,
    },
  });
  const close = async (): Promise<void> => {
    await gate.stop();
    await states?.close();
    redis?.client.close();
  };
  return { gate, close };
}

/** Null where the settings have no Redis. */
export async function openBenchRedis(settings: BenchSettings, logger: Logger) {
  const { redisUrl, group } = settings;
  if (redisUrl === undefined) return null;
  const { RedisClient } = await import("../../../services/adapters/redis/redis-client.ts");
  const { RedisCheckpoints } = await import(
    "../../../services/adapters/redis/redis-checkpoints.ts"
  );
  const client = new RedisClient(
    {
      server: { type: "single", url: redisUrl },
      clientName: "bench-gate",
      commandTimeoutMs: REDIS_MS,
      connectTimeoutMs: REDIS_MS,
    },
    logger,
  );
  const topic = topicsOf(settings).decisions;
  const checkpoints = ({ clusterId }: { readonly clusterId: string }) =>
    new RedisCheckpoints({
      ...{ client, scope: { clusterId, topic, group }, loadMsMax: LOAD_MS_MAX },
    });
  return { client, checkpoints };
}
