/** The log of a data directory (or of this process alone), for whoever composes a gate or a client. */
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { FileHeads, syncNewDirectory } from "../../adapters/files/head-file.ts";
import { Environment } from "../../adapters/lmdb/environment.ts";
import { acquireGateRole } from "../../adapters/lmdb/gate-role.ts";
import { LmdbCheckpoints } from "../../adapters/lmdb/lmdb-checkpoints.ts";
import { LmdbLog } from "../../adapters/lmdb/lmdb-log.ts";
import { MemoryLog } from "../../adapters/memory/memory-log.ts";
import type { HeadStore } from "../../runtime/journal-head.ts";
import type { CheckpointStore, Clock, Log, Ownership } from "../../runtime/ports.ts";
import type { RetentionPolicy } from "../../runtime/retention.ts";
import {
  assertNoLosses,
  type DirectoryLook,
  directoryRemedy,
  findForeignParts,
  findMissingParts,
  hasEmptyJournal,
  isNewDirectory,
  lookAtDirectory,
  newHead,
} from "./data-directory.ts";

/**
 * One writer and one disk: more partitions would split what is flushed together into smaller commits.
 * The log keeps the number it was made with.
 */
export const PARTITIONS = 1;

export type EmbeddedLog = Log & { applyRetention(policy: RetentionPolicy): Promise<void> };

export type Storage = {
  readonly log: EmbeddedLog;
  readonly ownership: Ownership;
  readonly checkpoints: CheckpointStore | null;
  /** Null: nothing outlives the process. */
  /** Nothing was decided there yet. */
  readonly isNew: boolean;
  /**
   * Writes down what the directory consists of, before anything is decided there.
   * @returns where its head is kept; null: nothing outlives the process.
   */
  begin(ownsSecret: boolean): Promise<HeadStore | null>;
  /** Lets the next gate in and closes the log. Idempotent. */
  close(): Promise<void>;
};

/**
 * Any number of processes may have it open.
 * @throws PipelineError: unreadable, damaged, no space; `journal_lost` where it is missing or empty, and was there.
 */
export function openDiskLog(dataDir: string, clock: Clock): LmdbLog {
  return new LmdbLog(openEnvironment(lookAtDirectory(dataDir)), () => clock.nowMs());
}

/** Whatever the rest of the directory says of it; makes no new one. @throws as `openDiskLog` */
export function openDiskLogAsItIs({ dataDir }: DirectoryLook, clock: Clock): LmdbLog {
  const environment = new Environment({ dataDir, newId: randomUUID, mayCreate: false });
  return new LmdbLog(environment, () => clock.nowMs());
}

type OwnedLog = {
  readonly environment: Environment;
  readonly log: LmdbLog;
  readonly ownership: Ownership;
  close(): Promise<void>;
};

/** The same with the right to decide; makes the log where there is none. @throws PipelineError */
export function openStorageAsItIs(dataDir: string, clock: Clock): OwnedLog {
  return ownedLog(new Environment({ dataDir, newId: randomUUID }), clock);
}

/** The log with the right to decide. @throws PipelineError as `openDiskLog`; `role_taken`; for what is foreign. */
export async function openDiskStorage(dataDir: string, clock: Clock): Promise<Storage> {
  const look = lookAtDirectory(dataDir);
  const { environment, log, ownership, close } = ownedLog(openEnvironment(look), clock);
  try {
    // Names of new files outlive a loss of power before anything is written that needs them.
    if (isNewDirectory(look)) syncNewDirectory(dataDir);
    return { ...(await partsOf(dataDir, environment, log)), ownership, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function ownedLog(environment: Environment, clock: Clock): OwnedLog {
  const log = new LmdbLog(environment, () => clock.nowMs());
  try {
    const role = acquireGateRole(environment, log, randomUUID());
    const close = async (): Promise<void> => {
      role.release();
      await log.close();
    };
    return { environment, log, ownership: role, close };
  } catch (error) {
    void log.close();
    throw error;
  }
}

async function partsOf(
  dataDir: string,
  environment: Environment,
  log: LmdbLog,
): Promise<Omit<Storage, "ownership" | "close">> {
  // Again, now that nobody else writes it.
  const look = lookAtDirectory(dataDir);
  assertNoLosses(dataDir, [...findMissingParts(look), ...(await findForeignParts(look, log))]);
  hideFromGit(dataDir);
  const isNew = await hasEmptyJournal(log);
  const begin = async (ownsSecret: boolean): Promise<HeadStore> => {
    const head = look.head ?? newHead(log, ownsSecret);
    const heads = new FileHeads(dataDir, { ...head, ownsSecret }, directoryRemedy(dataDir));
    if (look.head === null) {
      syncNewDirectory(dataDir);
      await heads.write();
    }
    return heads;
  };
  return { log, checkpoints: new LmdbCheckpoints(environment), isNew, begin };
}

const MIB = 1024 * 1024;

/** What memory keeps of a log that nothing outlives: of its journal, what is asked for later. Decisions do not need it. */
const MEMORY_BUDGET = { journalBytes: 64 * MIB, otherBytes: 4 * MIB };

export function openMemoryStorage(clock: Clock): Storage {
  const log = new MemoryLog({
    partitions: PARTITIONS,
    clusterId: randomUUID(),
    nowMs: () => clock.nowMs(),
    budget: MEMORY_BUDGET,
  });
  const rest = { checkpoints: null, isNew: true, begin: () => Promise.resolve(null) };
  return { log, ownership: log, ...rest, close: () => log.close() };
}

function openEnvironment(look: DirectoryLook): Environment {
  const { dataDir } = look;
  assertNoLosses(dataDir, findMissingParts(look));
  // An existing log keeps its number of partitions, whatever it is.
  const mayCreate = isNewDirectory(look);
  return new Environment({ dataDir, newId: randomUUID, mayCreate });
}

/** The directory holds a secret and what users said: it must not be committed by accident. */
function hideFromGit(dataDir: string): void {
  try {
    writeFileSync(join(dataDir, ".gitignore"), "*\n", { flag: "wx" });
  } catch {
    // There already, or not ours to write: nothing depends on it.
  }
}
