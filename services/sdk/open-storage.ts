/** The log of a data directory (or of this process alone), for whoever composes a gate or a client. */
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Environment } from "../adapters/lmdb/environment.ts";
import { acquireGateRole } from "../adapters/lmdb/gate-role.ts";
import { LmdbCheckpoints } from "../adapters/lmdb/lmdb-checkpoints.ts";
import { LmdbLog } from "../adapters/lmdb/lmdb-log.ts";
import { MemoryLog } from "../adapters/memory/memory-log.ts";
import type { CheckpointStore, Clock, Log, Ownership } from "../runtime/ports.ts";
import type { RetentionPolicy } from "../runtime/retention.ts";

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
  /** Lets the next gate in and closes the log. Idempotent. */
  close(): Promise<void>;
};

/** @throws PipelineError: unreadable, damaged, no space. Any number of processes may have it open. */
export function openDiskLog(dataDir: string, clock: Clock): LmdbLog {
  return new LmdbLog(openEnvironment(dataDir), () => clock.nowMs());
}

/** The log with the right to decide. @throws PipelineError as `openDiskLog`; `role_taken`. */
export function openDiskStorage(dataDir: string, clock: Clock): Storage {
  const environment = openEnvironment(dataDir);
  const log = new LmdbLog(environment, () => clock.nowMs());
  const role = acquireGateRole(environment, log, randomUUID());
  hideFromGit(dataDir);
  return {
    log,
    ownership: role,
    checkpoints: new LmdbCheckpoints(environment),
    close: async () => {
      role.release();
      await log.close();
    },
  };
}

export function openMemoryStorage(clock: Clock): Storage {
  const options = { partitions: PARTITIONS, clusterId: randomUUID(), nowMs: () => clock.nowMs() };
  const log = new MemoryLog(options);
  return { log, ownership: log, checkpoints: null, close: () => log.close() };
}

function openEnvironment(dataDir: string): Environment {
  // An existing log keeps its number of partitions, whatever it is.
  return new Environment({ dataDir, newId: randomUUID });
}

/** The directory holds a secret and what users said: it must not be committed by accident. */
function hideFromGit(dataDir: string): void {
  try {
    writeFileSync(join(dataDir, ".gitignore"), "*\n", { flag: "wx" });
  } catch {
    // There already, or not ours to write: nothing depends on it.
  }
}
