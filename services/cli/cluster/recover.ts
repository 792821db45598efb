/**
 * `callgate recover` and `callgate backup`: shows lost state, accepts the loss on a person's word,
 * and copies a data directory even while a gate runs on it.
 */
import type { Config } from "../../adapters/config/config-schema.ts";
import { readSecretText } from "../../adapters/config/secret-files.ts";
import type { RedisHeads } from "../../adapters/redis/redis-heads.ts";
import { backUpDirectory } from "../../process/directory/back-up-directory.ts";
import {
  acceptDirectoryLosses,
  allLosses,
  type DirectoryLosses,
  findDirectoryLosses,
} from "../../process/directory/recover-directory.ts";
import {
  EXIT_FINDINGS,
  EXIT_OK,
  type ExitCode,
  environmentError,
  usageError,
} from "../../process/exit-error.ts";
import { openCluster } from "../../process/open-cluster.ts";
import { openConfig } from "../../process/open-config.ts";
import { openRedis } from "../../process/open-redis.ts";
import { hasSecrets, openSecrets } from "../../process/open-secrets.ts";
import type { Acceptance } from "../../runtime/anchor.ts";
import { findJournalLosses, type JournalLosses } from "../../runtime/find-losses.ts";
import { GENESIS_HASH } from "../../runtime/journal.ts";
import type { JournalHead } from "../../runtime/journal-head.ts";
import type { Log } from "../../runtime/ports.ts";
import { quietLogger } from "../../runtime/quiet-logger.ts";
import { JOURNAL_TOPIC } from "../../runtime/topics.ts";
import { speakerOf } from "../approvals/give-verdict.ts";
import type { Terminal } from "../output/terminal.ts";
import { dataDirOf, type SourceOptions } from "./open-source.ts";

type RecoverOptions = SourceOptions & {
  readonly json: boolean;
  readonly accept: boolean;
  readonly by: string | undefined;
  readonly reason: string | undefined;
  /** File of the secret, if the data directory has none of its own. */
  readonly secretFile: string | undefined;
};

type Recovery = {
  readonly losses: readonly string[];
  /** Accepts the losses. */
  accept(word: Word): Promise<void>;
  /** What happens after the acceptance. */
  readonly next: string;
};

type Word = { readonly by: string; readonly reason: string | null };

const NOTHING_LOST = "nothing is lost: the journal, its head and its secret match";

export async function runRecover(options: RecoverOptions, terminal: Terminal): Promise<ExitCode> {
  const by = speakerOf(options);
  const { losses, accept, next } = await findRecovery(options);
  const isAccepted = options.accept && losses.length > 0;
  if (isAccepted) await accept({ by, reason: options.reason ?? null });
  const { out } = terminal;
  if (options.json) await out.write(`${JSON.stringify({ losses, accepted: isAccepted })}\n`);
  else await out.write(render(losses, isAccepted ? `accepted by ${by}, ${next}` : null));
  return losses.length === 0 || isAccepted ? EXIT_OK : EXIT_FINDINGS;
}

async function findRecovery(options: RecoverOptions): Promise<Recovery> {
  const dataDir = dataDirOf(options);
  return dataDir === undefined ? onCluster(options) : inDirectory(dataDir, options);
}

async function inDirectory(dataDir: string, options: RecoverOptions): Promise<Recovery> {
  const secret = secretIn(options.secretFile);
  const directoryLosses: DirectoryLosses = await findDirectoryLosses(dataDir, secret);
  return {
    losses: allLosses(directoryLosses),
    accept: (word) => acceptDirectoryLosses(dataDir, directoryLosses, word, secret),
    next: "and written into the journal: the directory can be opened",
  };
}

async function onCluster({ config: file }: RecoverOptions): Promise<Recovery> {
  const config = openConfig(file, []);
  const fingerprints = hasSecrets(config)
    ? openSecrets(config, Date.now()).store.fingerprints
    : null;
  const partitionLosses = await findClusterLosses(config, fingerprints);
  return {
    // `verify` reports unreadable records; accepting does not make them readable.
    losses: partitionLosses.flatMap(({ losses }) => losses),
    accept: (word) => acceptClusterLosses(config, partitionLosses, { ...word, atMs: Date.now() }),
    next: "which the gate writes into the journal: start it again",
  };
}

function secretIn(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const read = readSecretText(path);
  if (!read.ok) throw usageError(`--secret-file: ${read.message}; check the path`);
  return read.text;
}

function render(losses: readonly string[], accepted: string | null): string {
  if (losses.length === 0) return `${NOTHING_LOST}\n`;
  const lines = losses.map((loss) => `  ${loss}\n`).join("");
  const end =
    accepted ??
    "nothing was changed. Restore a backup of everything together; or add --accept-loss to continue without " +
      "it: calls that ran might run again";
  return `${losses.length === 1 ? "this is" : "these are"} lost:\n${lines}${end}\n`;
}

type PartitionLosses = JournalLosses & { readonly partition: number };

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
async function acceptClusterLosses(
  config: Config,
  partitionLosses: readonly PartitionLosses[],
  word: Pick<Acceptance, "by" | "reason" | "atMs">,
): Promise<void> {
  await withJournal(config, async ({ log }, heads) => {
    if (heads === null) {
      throw environmentError(
        "no Redis is configured, from which gates learn what was accepted: set `redis`, or begin under another prefix",
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

export async function runBackup(
  dataDir: string,
  target: string,
  { out }: Terminal,
): Promise<ExitCode> {
  await backUpDirectory(dataDir, target);
  await out.write(
    `${target} holds a copy of ${dataDir}, including its secret: keep it where only you can read it\n`,
  );
  return EXIT_OK;
}
