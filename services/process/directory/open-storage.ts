/**
 * Opens the log of a data directory, or one in memory, for a process that composes a gate or a
 * client.
 */
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { FileHeads, syncNewDirectory } from "../../adapters/files/head-file.ts";
import { Environment } from "../../adapters/lmdb/environment.ts";
import {
  acquireGateRole,
  findGateHolder,
  type GateHolder,
  type GateNotice,
  type GateRole,
} from "../../adapters/lmdb/gate-role.ts";
import { LmdbLog } from "../../adapters/lmdb/lmdb-log.ts";
import { LmdbStateStore } from "../../adapters/lmdb/lmdb-state-store.ts";
import { MemoryLog } from "../../adapters/memory/memory-log.ts";
import type { HeadStore } from "../../runtime/journal-head.ts";
import type { Clock, Log, Ownership } from "../../runtime/ports.ts";
import type { RetentionPolicy } from "../../runtime/retention.ts";
import type { StateStore } from "../../runtime/state-store.ts";
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
 * One writer and one disk: more partitions would split what is flushed together into smaller
 * commits. An existing log keeps its number of partitions.
 */
export const PARTITIONS = 1;

/** Each call of a process that does not decide waits twice for it. */
const SHARED_POLL_MS = 10;

export type EmbeddedLog = Log & { applyRetention(policy: RetentionPolicy): Promise<void> };

export type Storage = {
  readonly log: EmbeddedLog;
  readonly ownership: Ownership;
  /** Null: nothing outlives the process, and all conversations stay in memory. */
  readonly states: StateStore | null;
  /** Whether nothing was decided there yet. */
  readonly isNew: boolean;
  /**
   * Records which parts the directory has, before anything is decided there.
   * @returns the store of its head; null: nothing outlives the process.
   */
  begin(ownsSecret: boolean): Promise<HeadStore | null>;
  /** Tells other processes what decides here. */
  publish(notice: GateNotice): void;
  /** Gives up the right to decide and closes the log. Idempotent. */
  close(): Promise<void>;
};

/**
 * Any number of processes may have the log open.
 * @throws PipelineError: the log cannot be read, is damaged, or has no space; `journal_lost` where
 *   it is missing or empty but existed before.
 */
export function openDiskLog(dataDir: string, clock: Clock): LmdbLog {
  return new LmdbLog(openEnvironment(lookAtDirectory(dataDir)), () => clock.nowMs());
}

/** Opens an existing log without checking the rest of the directory. @throws as `openDiskLog` */
export function openDiskLogAsItIs({ dataDir }: DirectoryLook, clock: Clock): LmdbLog {
  const environment = new Environment({ dataDir, newId: randomUUID, mayCreate: false });
  return new LmdbLog(environment, () => clock.nowMs());
}

type OwnedLog = {
  readonly environment: Environment;
  readonly log: LmdbLog;
  readonly ownership: GateRole;
  close(): Promise<void>;
};

/**
 * Like `openDiskLogAsItIs`, with the right to decide; creates the log where there is none. @throws
 * PipelineError
 */
export function openStorageAsItIs(dataDir: string, clock: Clock): OwnedLog {
  return ownedLog(new Environment({ dataDir, newId: randomUUID }), clock);
}

/**
 * Opens the log with the right to decide. @throws PipelineError as `openDiskLog`; `role_taken`; for
 * parts of another directory.
 */
export async function openDiskStorage(dataDir: string, clock: Clock): Promise<Storage> {
  const look = lookAtDirectory(dataDir);
  return storageOf(look, ownedLog(openEnvironment(look), clock));
}

async function storageOf(look: DirectoryLook, owned: OwnedLog): Promise<Storage> {
  const { log, ownership, close } = owned;
  const { dataDir } = look;
  try {
    // The names of new files must survive a loss of power before anything is written that needs
    // them.
    if (isNewDirectory(look)) syncNewDirectory(dataDir);
    const publish = (notice: GateNotice): void => ownership.publish(notice);
    const parts = await partsOf(dataDir, log);
    const closeAll = async (): Promise<void> => {
      // Before the right to decide is given up: the next gate writes to the same file.
      await parts.states.close();
      await close();
    };
    return { ...parts, ownership, publish, close: closeAll };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A log that several processes use, of which one at a time decides. */
export type SharedLog = {
  readonly log: LmdbLog;
  /** The process that decides now; null if none does. */
  findHolder(): GateHolder | null;
  /**
   * Takes the right to decide, on this log: closing the storage gives up that right alone.
   * @throws PipelineError as `openDiskStorage`
   */
  lead(): Promise<Storage>;
  close(): Promise<void>;
};

/** @throws PipelineError as `openDiskLog` */
export function openSharedLog(dataDir: string, clock: Clock): SharedLog {
  const environment = openEnvironment(lookAtDirectory(dataDir));
  const log = new LmdbLog(environment, () => clock.nowMs(), SHARED_POLL_MS);
  return {
    log,
    findHolder: () => findGateHolder(environment),
    lead: async () => {
      const look = lookAtDirectory(dataDir);
      const role = acquireGateRole(environment, log, randomUUID());
      const close = async (): Promise<void> => role.release();
      return storageOf(look, { environment, log, ownership: role, close });
    },
    close: () => log.close(),
  };
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
  log: LmdbLog,
): Promise<
  Omit<Storage, "ownership" | "publish" | "close" | "states"> & { readonly states: StateStore }
> {
  // Looks again, now that nobody else writes to the directory.
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
  return { log, states: new LmdbStateStore(dataDir), isNew, begin };
}

const MIB = 1024 * 1024;

/**
 * How much of a log in memory is retained: of its journal, what a client may ask for later.
 * Decisions do not need it.
 */
const MEMORY_BUDGET = { journalBytes: 64 * MIB, otherBytes: 4 * MIB };

export function openMemoryStorage(clock: Clock): Storage {
  const log = new MemoryLog({
    partitions: PARTITIONS,
    clusterId: randomUUID(),
    nowMs: () => clock.nowMs(),
    budget: MEMORY_BUDGET,
  });
  const rest = { states: null, isNew: true, begin: () => Promise.resolve(null) };
  const publish = (): void => undefined;
  return { log, ownership: log, ...rest, publish, close: () => log.close() };
}

function openEnvironment(look: DirectoryLook): Environment {
  const { dataDir } = look;
  assertNoLosses(dataDir, findMissingParts(look));
  // An existing log keeps its number of partitions.
  const mayCreate = isNewDirectory(look);
  return new Environment({ dataDir, newId: randomUUID, mayCreate });
}

/** The directory holds a secret and what users said: it must not be committed by accident. */
function hideFromGit(dataDir: string): void {
  try {
    writeFileSync(join(dataDir, ".gitignore"), "*\n", { flag: "wx" });
  } catch {
    // The file exists already, or cannot be written: nothing depends on it.
  }
}
