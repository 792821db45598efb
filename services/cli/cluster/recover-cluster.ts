/** Finds what the journal of a cluster has lost, according to Redis and the secrets. */
import type { Config } from "../../adapters/config/config-schema.ts";
import type { RedisHeads } from "../../adapters/redis/redis-heads.ts";
import { environmentError } from "../../process/exit-error.ts";
import { openCluster } from "../../process/open-cluster.ts";
import { openRedis } from "../../process/open-redis.ts";
import type { Acceptance } from "../../runtime/anchor.ts";
import { findJournalLosses, type JournalLosses } from "../../runtime/find-losses.ts";
import { GENESIS_HASH } from "../../runtime/journal.ts";
import type { JournalHead } from "../../runtime/journal-head.ts";
import type { Log } from "../../runtime/ports.ts";
import { quietLogger } from "../../runtime/quiet-logger.ts";
import { JOURNAL_TOPIC } from "../../runtime/topics.ts";

export type PartitionLosses = JournalLosses & { readonly partition: number };

/** Longest default life of a conversation and of a hold, plus a day. */
const SPAN_MS = 9 * 86_400_000;

/** @param fingerprints of the available secrets; null: secrets are not checked. */
export async function findClusterLosses(
  config: Config,
  fingerprints: ReadonlyMap<string, string> | null,
): Promise<readonly PartitionLosses[]> {
  return withJournal(config, async ({ log, codec }, heads) => {
    const sinceMs = Date.now() - SPAN_MS;
    const partitionLosses: PartitionLosses[] = [];
    for (let partition = 0; partition < log.partitions; partition += 1) {
      const head = (await heads?.load(partition)) ?? null;
      const context = { log, codec, partition, head, fingerprints, sinceMs };
      partitionLosses.push({ ...(await findJournalLosses(context)), partition });
    }
    return partitionLosses;
  });
}

/** The gate that starts next runs the partitions, and journals the acceptance before it decides. */
export async function acceptClusterLosses(
  config: Config,
  partitionLosses: readonly PartitionLosses[],
  word: Pick<Acceptance, "by" | "reason" | "atMs">,
): Promise<void> {
  await withJournal(config, async ({ log }, heads) => {
    if (heads === null) {
      throw environmentError(
        "no Redis is configured, which tells gates what was accepted: set `redis`, or begin under another prefix",
      );
    }
    for (const { partition, losses, lostKeyIds } of partitionLosses) {
      if (losses.length === 0) continue;
      await heads.accept(partition, beginningOf(log), { ...word, losses, lostKeyIds });
    }
  });
}

function beginningOf(log: Log): JournalHead {
  const topicId = log.topicId(JOURNAL_TOPIC);
  return { topicId, journalOffset: 0, seq: 0, chainHead: GENESIS_HASH };
}

type Opened = Awaited<ReturnType<typeof openCluster>>;

async function withJournal<T>(
  config: Config,
  work: (cluster: Opened, heads: RedisHeads | null) => Promise<T>,
): Promise<T> {
  const cluster = await openCluster(config, new Map(), quietLogger);
  const redis = await openRedis(config, quietLogger);
  try {
    return await work(cluster, redis?.heads(cluster.log) ?? null);
  } finally {
    redis?.close();
    await cluster.close();
  }
}
