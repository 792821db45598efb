/**
 * The schema of the configuration: every key, its default and its bounds. The environment variable
 * of a key is named after its path (config-keys.ts).
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
  uriReference,
} from "./config-texts.ts";
import { notifyTarget } from "./notify-target.ts";

/** A secret value is never printed; of a `url` only the part before `@` is secret. */
type Secrecy = "whole" | "url";

export type LeafMeta = {
  readonly secret?: Secrecy;
  /** The value is a path, or a list of paths, relative to the configuration file. */
  readonly path?: true;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const PORT_MAX = 65_535;
const SECRET_CHARACTERS_MIN = 16;
const PARALLEL_MAX = 10_000;
const STATE_BYTES_MIN = 64 * 1024;

const path = () => text().meta({ path: true } satisfies LeafMeta);
const paths = () => z.array(text()).meta({ path: true } satisfies LeafMeta);
const secret = () => text().meta({ secret: "whole" } satisfies LeafMeta);
const URL_META: LeafMeta = { secret: "url" };
const timeMs = (least = 1, most = HOUR_MS) => z.int().min(least).max(most);

const topicNames = Object.fromEntries(
  TOPICS.map((topic) => [topic, topicName().optional().describe(`name of \`${topic}\``)] as const),
) as { [topic in (typeof TOPICS)[number]]: z.ZodOptional<z.ZodString> };

const tlsFiles = {
  caFile: path().optional().describe("certificates to trust in addition to the system's, PEM"),
  certFile: path().optional().describe("the client's certificate, PEM"),
  keyFile: path().optional().describe("the client's private key, PEM"),
  passphrase: secret().optional().describe("passphrase of the private key"),
  passphraseFile: path().optional().describe("file that contains `passphrase`"),
};
const serverName = hostName()
  .optional()
  .describe("name that the certificate must carry, if not the host's");
const ssl = z.strictObject({
  enabled: z.boolean().default(false).describe("use TLS"),
  ...tlsFiles,
  serverName,
});

const sasl = z.strictObject({
  mechanism: z.enum(["plain", "scram-sha-256", "scram-sha-512"]).describe("SASL mechanism"),
  username: text().describe("user name"),
  password: secret().optional().describe("password; or set `passwordFile`"),
  passwordFile: path().optional().describe("file that contains `password`"),
});

const kafka = z.strictObject({
  brokers: z.array(address()).min(1).describe("addresses of some brokers, `host:port`"),
  clientId: name().default("callgate").describe("name of this client for the brokers"),
  app: name()
    .default("callgate")
    .describe(
      "first part of transactional ids: the same for every gate and executor of an installation, and different for each installation on the cluster; with another `kafka.topicPrefix` the default is `callgate-<prefix>`",
    ),
  group: name()
    .default("callgate-gate")
    .describe(
      "consumer group of the gates, the same for all; `<kafka.app>-gate` where that is set",
    ),
  topicPrefix: topicPrefix()
    .default("toolcalls")
    .describe("prefix of the topic names: each environment on a cluster has its own"),
  topics: z.strictObject(topicNames).prefault({}),
  ssl: ssl.prefault({}),
  sasl: sasl.optional(),
  connectionTimeoutMs: timeMs(100).default(3_000).describe("longest wait for a connection"),
  requestTimeoutMs: timeMs(100).default(30_000).describe("longest wait for an answer"),
  sessionTimeoutMs: timeMs(1_000)
    .default(6_000)
    .describe("a group member without a heartbeat for this time loses its partitions"),
  heartbeatIntervalMs: timeMs(100).default(300).describe("time between two heartbeats"),
  transactionTimeoutMs: timeMs(1_000, 15 * MINUTE_MS)
    .default(10_000)
    .describe("the broker aborts a transaction that stays open for this time"),
});

const registry = z.strictObject({
  url: httpUrl().meta(URL_META).describe("address of the registry's API"),
  username: text().optional().describe("user name"),
  password: secret().optional().describe("password"),
  passwordFile: path().optional().describe("file that contains `password`"),
  timeoutMs: timeMs(100).default(10_000).describe("longest wait for an answer"),
  ssl: z.strictObject(tlsFiles).prefault({}),
  register: z.boolean().default(false).describe("register missing schemas at start"),
});

const redis = z.strictObject({
  url: redisUrl()
    .meta(URL_META)
    .optional()
    .describe("one server, `redis://host:port/0`, or `rediss://` for TLS"),
  sentinels: z
    .array(address())
    .default([])
    .describe("addresses of the Sentinels, instead of `url`"),
  sentinelName: name().optional().describe("name of the master at the Sentinels"),
  clusterNodes: z
    .array(address())
    .default([])
    .describe("addresses of cluster nodes, instead of `url`"),
  username: text().optional().describe("user name"),
  password: secret().optional().describe("password"),
  passwordFile: path().optional().describe("file that contains `password`"),
  ssl: ssl.prefault({}),
});

const policy = z.strictObject({
  files: paths().default([]).describe("policy files, merged"),
  watch: z.boolean().default(true).describe("reload the files when they change"),
});

const gateSecret = z.strictObject({
  value: z
    .string()
    .min(SECRET_CHARACTERS_MIN)
    .meta({ secret: "whole" } satisfies LeafMeta)
    .optional()
    .describe(
      "secret for idempotency keys and digests of sensitive arguments; at least 16 characters",
    ),
  valueFile: path().optional().describe("file that contains `value`"),
});

/** Like `gateSecret`, for the time in which one secret replaces another. */
const gateSecrets = z
  .array(
    z.strictObject({
      id: name(),
      value: z.string().optional(),
      valueFile: text().optional(),
      from: z.iso
        .datetime({ offset: true, error: "must be a time\nwrite it like `2026-12-01T09:00:00Z`" })
        .optional(),
    }),
  )
  .default([])
  .meta({ secret: "whole" } satisfies LeafMeta)
  .describe(
    "several secrets, instead of `secret`: maps with `id`, `value` or `valueFile`, and `from`; the latest begun makes new keys, all stay valid",
  );

const http = z.strictObject({
  host: hostName().default("127.0.0.1").describe("address that serves health and metrics"),
  port: z
    .int()
    .min(0)
    .max(PORT_MAX)
    .optional()
    .describe("0: any free port. Default: gate 8080, executor 8081, analytics 8082, notify 8083"),
});

const log = z.strictObject({
  level: z
    .enum(["debug", "info", "warn", "error", "silent"])
    .default("info")
    .describe("lowest level that is logged"),
});

const gate = z.strictObject({
  proposals: z
    .enum(["trusted", "signed"])
    .default("trusted")
    .describe(
      "`trusted`: only the platform may write proposals; `signed`: each proposal needs the platform's token in the header `callgate-token`",
    ),
  proposalKeys: path()
    .optional()
    .describe("JWKS file with the keys that verify tokens, by `kid`; reloaded when it changes"),
  batchInputs: z.int().min(1).max(500).default(500).describe("most inputs in a transaction"),
  lingerMs: z
    .int()
    .min(0)
    .max(1_000)
    .default(5)
    .describe("how long a transaction waits for more inputs"),
  cloudEventsSource: uriReference()
    .optional()
    .describe(
      "source that decisions name as CloudEvents (binary mode, headers `ce_…`), such as `/callgate/eu`; absent: they are no CloudEvents",
    ),
  warmUpMs: timeMs(0, 2_000)
    .default(1_000)
    .describe("longest warm-up of a gate before it joins its group; 0: no warm-up"),
  checkpointEveryRecords: z.int().min(1).default(50_000).describe("records between checkpoints"),
  offsetsGraceMs: timeMs(0)
    .default(30_000)
    .describe(
      "how long recorded offsets may be ahead of the journal before a partition is refused",
    ),
});

const limits = z.strictObject({
  conversations: z
    .int()
    .min(1)
    .optional()
    .describe(
      "most open conversations of a gate process; at the bound new ones are refused as `overloaded`. Default: as many as memory allows",
    ),
  conversationsPerTenant: z
    .int()
    .min(1)
    .optional()
    .describe("the same for each tenant; absent: no bound"),
  stateBytes: z
    .int()
    .min(1)
    .optional()
    .describe("the same for the bytes of the state store on disk; absent: no bound"),
});

const executor = z.strictObject({
  group: name()
    .default("callgate-executor")
    .describe("consumer group of the executors; `<kafka.app>-executor` where that is set"),
  handlers: path().optional().describe("module that exports the handlers"),
  parallelCalls: z
    .int()
    .min(1)
    .max(PARALLEL_MAX)
    .default(256)
    .describe("most concurrent calls on a partition"),
});

const state = z.strictObject({
  directory: path()
    .optional()
    .describe(
      "directory of the conversations that a gate on Kafka has no room for in memory; one process at a time may use it, and it may be deleted at any time. Without it all stay in memory",
    ),
  memoryBytes: z
    .int()
    .min(STATE_BYTES_MIN)
    .optional()
    .describe(
      "memory for conversations, in bytes; the others are in the data directory, or in `state.directory`. Default: a quarter of what Node.js may use",
    ),
});

const analytics = z.strictObject({
  directory: path()
    .default("callgate-analytics")
    .describe("directory of the totals and Parquet files; one process at a time may use it"),
  idleMs: timeMs(1_000, 24 * HOUR_MS)
    .default(30 * MINUTE_MS)
    .describe("a conversation without a call for this time counts as idle"),
  persistMs: timeMs(10).default(5_000).describe("least time between two writes of the totals"),
  segmentMs: timeMs(10).default(MINUTE_MS).describe("time after which a Parquet file is written"),
});

const serve = z.strictObject({
  directory: path()
    .default("callgate-serve")
    .describe("directory of the access tokens, where the gate is on Kafka"),
  hosts: z
    .array(hostName())
    .default([])
    .describe("further host names under which a server on a loopback address is reached"),
  publicUrl: httpUrl()
    .optional()
    .describe(
      "URL under which clients reach the server, for the links in its answers; by default as a request names it",
    ),
  corsOrigins: z
    .array(httpUrl())
    .default([])
    .describe("web pages that may use the server with a token; by default none"),
  requireToken: z
    .boolean()
    .default(false)
    .describe("on a loopback address, too, every request needs a token"),
  jwt: z
    .strictObject({
      issuer: text().describe("issuer of JWTs that the server accepts (`iss`)"),
      audience: text().describe("audience that they must name (`aud`)"),
      jwksUrl: httpUrl().describe("address of the issuer's keys"),
      rolesClaim: name().default("callgate_roles").describe("claim with the roles, and `platform`"),
      tenantClaim: name().default("callgate_tenant").describe("claim with the tenant"),
      agentClaim: name().default("callgate_agent").describe("claim with the agent"),
    })
    .optional(),
  requestsPerSecond: z
    .number()
    .min(0.1)
    .max(1_000_000)
    .default(2_000)
    .describe("requests of one token; a burst may have as many at once"),
});

const notify = z.strictObject({
  directory: path()
    .optional()
    .describe(
      "directory of what is not delivered yet; one process at a time may use it. Default: `callgate-notify`, with a data directory its `notify`",
    ),
  source: uriReference()
    .default("/callgate")
    .describe("source that the events name, such as `/callgate/eu`"),
  timeoutMs: timeMs(100, MINUTE_MS).default(10_000).describe("longest wait for a receiver"),
  targets: z
    .array(notifyTarget)
    .default([])
    .meta({ secret: "whole" } satisfies LeafMeta)
    .describe("who hears of what: maps, see [notify.md](notify.md#targets)"),
});

export const configSchema = z.strictObject({
  kafka: kafka.prefault({} as never),
  registry: registry.optional(),
  redis: redis.optional(),
  policy: policy.prefault({}),
  secret: gateSecret.prefault({}),
  secrets: gateSecrets,
  http: http.prefault({}),
  log: log.prefault({}),
  gate: gate.prefault({}),
  limits: limits.prefault({}),
  state: state.prefault({}),
  executor: executor.prefault({}),
  analytics: analytics.prefault({}),
  serve: serve.prefault({}),
  notify: notify.prefault({}),
  shutdownMs: timeMs()
    .default(10_000)
    .describe("longest time from SIGTERM to the end of a process"),
});

/** The whole configuration, checked and with its defaults. Secrets from files are filled in. */
export type Config = z.output<typeof configSchema>;
