/**
 * The parts of a data directory: the log, the secret that its journal was written with, and the
 * head that says how far that journal had come. The log and the head name the same id.
 *
 * DIR-1 a new directory gets its log first, then its secret, then its head, each on disk before the
 *    next; nothing is decided before. So a secret or a head without a log is a log that was lost,
 *    and a journal without a head or a secret is one that lost these.
 * DIR-2 the head is read before the log is: whoever looks while a gate decides finds a log that is
 *    further.
 */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { SECRET_FILE } from "../../adapters/config/secret-file.ts";
import { HEAD_FILE, type HeadFile, readHeadFile } from "../../adapters/files/head-file.ts";
import { LOG_FILE } from "../../adapters/lmdb/environment.ts";
import { FatalError } from "../../runtime/errors.ts";
import { GENESIS_HASH } from "../../runtime/journal.ts";
import { journalLost, type StoredHead } from "../../runtime/journal-head.ts";
import type { Log } from "../../runtime/ports.ts";
import { JOURNAL_TOPIC } from "../../runtime/topics.ts";

export type DirectoryLook = {
  readonly dataDir: string;
  /** Null: there is none, or it cannot be read. */
  readonly head: HeadFile | null;
  /** Why the head cannot be read. */
  readonly headProblem: string | null;
  readonly hasSecret: boolean;
  readonly log: "missing" | "empty" | "present";
};

/** How to fix a directory whose parts do not belong together. */
export function directoryRemedy(dataDir: string): string {
  return (
    `Restore a backup of all files of \`${dataDir}\` together (\`${LOG_FILE}\`, \`${SECRET_FILE}\`, ` +
    `\`${HEAD_FILE}\`), or see what is lost with \`callgate recover --data-dir ${dataDir}\` and accept it ` +
    "with `--accept-loss`"
  );
}

const STAYS_QUIET = { throwIfNoEntry: false } as const;

/**
 * Changes nothing. @throws FatalError where a part cannot be read because of its permissions: that
 * is no loss.
 */
export function lookAtDirectory(dataDir: string): DirectoryLook {
  if (!existsSync(dataDir) || !statSync(dataDir).isDirectory()) {
    return { dataDir, head: null, headProblem: null, hasSecret: false, log: "missing" };
  }
  // DIR-1, DIR-2: the log last.
  const { head, headProblem } = lookAtHead(dataDir);
  const hasSecret = existsSync(join(dataDir, SECRET_FILE));
  const size = statSync(join(dataDir, LOG_FILE), STAYS_QUIET)?.size;
  const log = size === undefined ? "missing" : size === 0 ? "empty" : "present";
  return { dataDir, head, headProblem, hasSecret, log };
}

function lookAtHead(dataDir: string): Pick<DirectoryLook, "head" | "headProblem"> {
  try {
    return { head: readHeadFile(dataDir), headProblem: null };
  } catch (error) {
    const isLost = error instanceof FatalError && error.code === "journal_lost";
    if (!isLost) throw error;
    return { head: null, headProblem: error.message };
  }
}

/** Whether the directory has neither secret nor head nor log, so that a new log may be made. */
export function isNewDirectory({ head, headProblem, hasSecret }: DirectoryLook): boolean {
  return head === null && headProblem === null && !hasSecret;
}

/** Whether a secret was in the directory, and is not any more. */
export function hasLostSecret({ head, hasSecret }: DirectoryLook): boolean {
  return !hasSecret && head?.ownsSecret !== false;
}

/** Losses that can be found without opening the log: one sentence each, without a full stop. */
export function findMissingParts(look: DirectoryLook): readonly string[] {
  const { dataDir, headProblem, hasSecret, log } = look;
  const losses = headProblem === null ? [] : [headProblem];
  if (isNewDirectory(look) || log === "present") return losses;
  const beside = [hasSecret ? [SECRET_FILE] : [], look.head === null ? [] : [HEAD_FILE]].flat();
  const names = beside.map((name) => `\`${name}\``).join(" and ");
  const where = names === "" ? "" : `, beside ${names}`;
  return [...losses, `the log \`${join(dataDir, LOG_FILE)}\` is ${log}${where}`];
}

/**
 * Whether the opened log and the head contradict each other, as far as that can be told without
 * reading records.
 */
export async function findForeignParts(look: DirectoryLook, log: Log): Promise<readonly string[]> {
  const { dataDir, head, headProblem } = look;
  const path = join(dataDir, HEAD_FILE);
  if (headProblem !== null) return [];
  if (head === null) {
    if (await hasEmptyJournal(log)) return [];
    return [`\`${path}\` is missing: nobody knows whether the log beside it is the latest one`];
  }
  if (head.directoryId === log.clusterId && head.partitions.length === log.partitions) return [];
  return [
    `\`${path}\` belongs to the directory ${head.directoryId}, and the log beside it to ${log.clusterId}`,
  ];
}

/** Whether nothing was decided in the log. */
export async function hasEmptyJournal(log: Log): Promise<boolean> {
  for (let partition = 0; partition < log.partitions; partition += 1) {
    if ((await log.endOffset(JOURNAL_TOPIC, partition)) > 0) return false;
  }
  return true;
}

/** @throws FatalError `journal_lost` that lists all losses; does nothing where there are none. */
export function assertNoLosses(dataDir: string, losses: readonly string[]): void {
  if (losses.length > 0) throw journalLost(losses, directoryRemedy(dataDir));
}

/** The head of a log in which nothing has been decided. */
export function newHead(
  log: Log,
  ownsSecret: boolean,
  acceptance: StoredHead["acceptance"] = null,
): HeadFile {
  const topicId = log.topicId(JOURNAL_TOPIC);
  const nothing = { topicId, journalOffset: 0, seq: 0, chainHead: GENESIS_HASH, acceptance };
  const partitions = Array.from({ length: log.partitions }, () => nothing);
  return { directoryId: log.clusterId, ownsSecret, partitions };
}
