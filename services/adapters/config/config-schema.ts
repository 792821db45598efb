/**
 * What the processes are configured with: every key, its default and its bounds. The names of the
 * variables that stand for the keys are made of their paths (config-keys.ts).
 */
import { z } from "zod";
import { TOPICS } from "../../runtime/topics.ts";
import {
  address,
  hostName,
  httpUrl,
  name,
  redisUrl,
  text,
  topicName,
  topicPrefix,
} from "./config-texts.ts";

/** Of a leaf: its value is never printed (`url`: but for what stands before its `@`). */
type Secrecy = "whole" | "url";

export type LeafMeta = {
  readonly secret?: Secrecy;
  /** Path of a file, or of several: as written in a file, it is relative to that file. */
  readonly path?: true;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const PORT_MAX = 65_535;
const SECRET_CHARACTERS_MIN = 16;
const PARALLEL_MAX = 10_000;

const path = () => text().meta({ path: true } satisfies LeafMeta);
const paths = () => z.array(text()).meta({ path: true } satisfies LeafMeta);
const secret = () => text().meta({ secret: "whole" } satisfies LeafMeta);
const URL_META: LeafMeta = { secret: "url" };
const timeMs = (least = 1, most = HOUR_MS) => z.int().min(least).max(most);

const topicNames = Object.fromEntries(
  TOPICS.map((topic) => [topic, topicName().optional().describe(`name of \`${topic}\``)] as const),
) as { [topic in (typeof TOPICS)[number]]: z.ZodOptional<z.ZodString> };

const tlsFiles = {
  caFile: path().optional().describe("certificates to trust beside the system's, PEM"),
  certFile: path().optional().describe("the client's certificate, PEM"),
  keyFile: path().optional().describe("the client's private key, PEM"),
  passphrase: secret().optional().describe("opens the private key"),
  passphraseFile: path().optional().describe("file that holds `passphrase`"),
};
const serverName = hostName()
  .optional()
  .describe("name that the certificate must carry, if not the host's");
const ssl = z.strictObject({
  enabled: z.boolean().default(false).describe("speak TLS"),
  ...tlsFiles,
  serverName,
});

const sasl = z.strictObject({
  mechanism: z.enum(["plain", "scram-sha-256", "scram-sha-512"]).describe("how to log in"),
  username: text().describe("who logs in"),
  password: secret().optional().describe("the password; or give `passwordFile`"),
  passwordFile: path().optional().describe("file that holds `password`"),
});

const kafka = z.strictObject({
  brokers: z.array(address()).min(1).describe("addresses to begin with, `host:port`"),
  clientId: name().default("callgate").describe("how the brokers name this client"),
  app: name()
    .default("callgate")
    .describe(
      "first part of transactional ids: the same for every gate and executor of an installation, another one for another installation on this cluster",
    ),
  group: name().default("callgate-gate").describe("consumer group of the gates, the same for all"),
  topicPrefix: topicPrefix().default("toolcalls").describe("what the names of topics begin with"),
  topics: z.strictObject(topicNames).prefault({}),
  ssl: ssl.prefault({}),
  sasl: sasl.optional(),
  connectionTimeoutMs: timeMs(100).default(3_000).describe("longest wait for a connection"),
  requestTimeoutMs: timeMs(100).default(30_000).describe("longest wait for an answer"),
  sessionTimeoutMs: timeMs(1_000)
    .default(6_000)
    .describe("a member of a group that was silent for so long has lost its partitions"),
  heartbeatIntervalMs: timeMs(100).default(300).describe("time between two signs of life"),
  transactionTimeoutMs: timeMs(1_000, 15 * MINUTE_MS)
    .default(10_000)
    .describe("the broker ends a transaction that was open for so long"),
});

const registry = z.strictObject({
  url: httpUrl().meta(URL_META).describe("address of the registry's API"),
  username: text().optional().describe("who logs in"),
  password: secret().optional().describe("the password"),
  passwordFile: path().optional().describe("file that holds `password`"),
  timeoutMs: timeMs(100).default(10_000).describe("longest wait for an answer"),
  ssl: z.strictObject(tlsFiles).prefault({}),
  register: z.boolean().default(false).describe("register schemas that are not there, at start"),
});

const redis = z.strictObject({
  url: redisUrl()
    .meta(URL_META)
    .optional()
    .describe("one server, `redis://host:port/0`, or `rediss://` for TLS"),
  sentinels: z.array(address()).default([]).describe("the Sentinels, instead of `url`"),
  sentinelName: name().optional().describe("name that the Sentinels know the master by"),
  clusterNodes: z.array(address()).default([]).describe("nodes of a Cluster, instead of `url`"),
  username: text().optional().describe("who logs in"),
  password: secret().optional().describe("the password"),
  passwordFile: path().optional().describe("file that holds `password`"),
  ssl: ssl.prefault({}),
});

const policy = z.strictObject({
  files: paths().default([]).describe("policy files, merged"),
  watch: z.boolean().default(true).describe("load them again when they change"),
});

const gateSecret = z.strictObject({
  value: z
    .string()
    .min(SECRET_CHARACTERS_MIN)
    .meta({ secret: "whole" } satisfies LeafMeta)
    .optional()
    .describe(
      "idempotency keys and digests of sensitive arguments are made with it; at least 16 characters",
    ),
  valueFile: path().optional().describe("file that holds `value`"),
  previousFiles: paths()
    .default([])
    .describe("files of secrets used before: their keys and digests stay valid"),
});

const http = z.strictObject({
  host: hostName().default("127.0.0.1").describe("where health and metrics are served"),
  port: z
    .int()
    .min(0)
    .max(PORT_MAX)
    .optional()
    .describe("0: any free port. Default: gate 8080, executor 8081, analytics 8082"),
});

const log = z.strictObject({
  level: z
    .enum(["debug", "info", "warn", "error", "silent"])
    .default("info")
    .describe("the least that is written"),
});

const gate = z.strictObject({
  proposals: z
    .enum(["trusted", "signed"])
    .default("trusted")
    .describe(
      "`trusted`: only the platform may write proposals; `signed`: each needs a token of the platform's in the header `callgate-token`",
    ),
  proposalKeys: path()
    .optional()
    .describe("JWKS file with the keys that verify tokens, by `kid`; read again when it changes"),
  batchInputs: z.int().min(1).max(500).default(500).describe("most inputs in a transaction"),
  lingerMs: z.int().min(0).max(1_000).default(5).describe("how long a transaction waits to fill"),
  warmUpMs: timeMs(0, 2_000)
    .default(1_000)
    .describe("longest time that a gate warms up before it joins its group; 0: it does not"),
  checkpointEveryRecords: z.int().min(1).default(50_000).describe("records between checkpoints"),
  offsetsGraceMs: timeMs(0)
    .default(30_000)
    .describe(
      "how long recorded offsets may be ahead of the journal before a partition is refused",
    ),
});

const executor = z.strictObject({
  group: name().default("callgate-executor").describe("consumer group of the executors"),
  handlers: path().optional().describe("module that exports the handlers"),
  parallelCalls: z
    .int()
    .min(1)
    .max(PARALLEL_MAX)
    .default(256)
    .describe("most calls under way on a partition"),
});

const analytics = z.strictObject({
  directory: path()
    .default("callgate-analytics")
    .describe("where numbers and Parquet files are kept; one process at a time"),
  idleMs: timeMs(1_000, 24 * HOUR_MS)
    .default(30 * MINUTE_MS)
    .describe("a conversation without a call for so long has come to rest"),
  persistMs: timeMs(10).default(5_000).describe("time between two writes of the numbers, at least"),
  segmentMs: timeMs(10).default(MINUTE_MS).describe("a Parquet file is written after so long"),
});

export const configSchema = z.strictObject({
  kafka: kafka.prefault({} as never),
  registry: registry.optional(),
  redis: redis.optional(),
  policy: policy.prefault({}),
  secret: gateSecret.prefault({}),
  http: http.prefault({}),
  log: log.prefault({}),
  gate: gate.prefault({}),
  executor: executor.prefault({}),
  analytics: analytics.prefault({}),
  shutdownMs: timeMs().default(10_000).describe("after SIGTERM a process ends within this time"),
});

/** The whole configuration, checked, with its defaults. Secrets of files are in place. */
export type Config = z.output<typeof configSchema>;
