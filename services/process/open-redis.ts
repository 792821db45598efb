import type { Config } from "../adapters/config/config-schema.ts";
import type { RedisOptions, RedisServer, RedisTls } from "../adapters/redis/redis-client.ts";
import type { RedisHeads } from "../adapters/redis/redis-heads.ts";
import type { CheckpointStore, Log, Logger } from "../runtime/ports.ts";
import { JOURNAL_TOPIC } from "../runtime/topics.ts";
import { topicNamesOf } from "./kafka-settings.ts";
import { readTlsFiles } from "./tls-files.ts";

/**
 * A restore asks twice at most before it goes on without Redis, and nothing is decided meanwhile.
 */
const COMMAND_TIMEOUT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 1_000;
/** If loading takes longer, reading the journal is faster. */
const LOAD_MS_MAX = 30_000;

export type OpenedRedis = {
  readonly checkpoints: (log: Pick<Log, "clusterId">) => CheckpointStore;
  /** The store of how far the journal of a log had come. */
  readonly heads: (log: Pick<Log, "clusterId" | "topicId">) => RedisHeads;
  close(): void;
};

/**
 * Null: no Redis is configured. A server that does not answer is no error: decisions go on without
 * it.
 */
export async function openRedis(config: Config, logger: Logger): Promise<OpenedRedis | null> {
  const { redis, kafka } = config;
  if (redis === undefined) return null;
  const { username, password, ssl } = redis;
  const options: RedisOptions = {
    server: serverOf(redis),
    clientName: kafka.clientId,
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(ssl.enabled ? { tls: tlsOf(ssl) } : {}),
  };
  const { RedisClient } = await import("../adapters/redis/redis-client.ts");
  const { RedisCheckpoints } = await import("../adapters/redis/redis-checkpoints.ts");
  const { RedisHeads } = await import("../adapters/redis/redis-heads.ts");
  const client = new RedisClient(options, logger);
  const { group } = kafka;
  const topic = topicNamesOf(config)[JOURNAL_TOPIC];
  return {
    checkpoints: ({ clusterId }) =>
      new RedisCheckpoints({ client, scope: { clusterId, topic, group }, loadMsMax: LOAD_MS_MAX }),
    heads: (log) =>
      new RedisHeads({ client, log, scope: { clusterId: log.clusterId, topic, group } }),
    close: () => client.close(),
  };
}

function tlsOf(ssl: NonNullable<Config["redis"]>["ssl"]): RedisTls {
  const { serverName } = ssl;
  const texts = readTlsFiles("redis.ssl", ssl);
  return serverName === undefined ? texts : { ...texts, servername: serverName };
}

function serverOf(redis: NonNullable<Config["redis"]>): RedisServer {
  const { url, sentinels, sentinelName: name, clusterNodes: nodes } = redis;
  if (url !== undefined) return { type: "single", url };
  if (name !== undefined && sentinels.length > 0) return { type: "sentinel", sentinels, name };
  return { type: "cluster", nodes };
}
