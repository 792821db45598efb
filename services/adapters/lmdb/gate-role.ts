/**
 * The gate role of a data directory: one process at a time decides; any number may append.
 *
 * The store itself names the holder, so that two processes cannot both find a stale holder and both
 * replace it. A holder is stale when its process is gone; on another host, in a new container or in
 * another thread, where that cannot be seen, when its heartbeat has stopped. Taking the role from a
 * holder that was only suspended is safe: its commits are fenced by the partitions' epochs, and it
 * takes no partition again.
 */
import { closeSync, openSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { threadId } from "node:worker_threads";
import { FatalError, FencedError } from "../../runtime/errors.ts";
import type { CommitOutcome, Ownership, PartitionWriter } from "../../runtime/ports.ts";
import type { PerInput } from "../../runtime/topics.ts";
import {
  isInSight,
  isRunning,
  nameOf,
  type ProcessIdentity,
  thisProcess,
} from "../system/process-identity.ts";
import type { Environment } from "./environment.ts";
import { makeNameKey } from "./keys.ts";
import type { LmdbLog } from "./lmdb-log.ts";

const KEY = makeNameKey("gate");
export const HEARTBEAT_FILE = "gate.heartbeat";
const HEARTBEAT_MS = 2_000;
const HEARTBEAT_STALE_MS = 15_000;

/** What the holder tells processes that want to use its gate. */
export type GateNotice = {
  /** Whether other processes may propose calls. */
  readonly isShared: boolean;
  /** A digest of everything by which it decides. */
  readonly terms: string;
};

type Holder = ProcessIdentity & {
  readonly nonce: string;
  /** Workers of a process share its id, and none sees what another holds. */
  readonly thread: number;
  /** Absent: the gate is still being opened. */
  readonly notice?: GateNotice;
};

export type GateHolder = {
  readonly pid: number;
  /** For messages. */
  readonly name: string;
  /** Null: it is still opening its gate. */
  readonly notice: GateNotice | null;
};

/** Roles held in this thread. A holder with our pid and thread that is not in the set is gone. */
const heldHere = new Set<string>();

export type GateRole = Ownership & {
  /** Tells other processes what this gate is. */
  publish(notice: GateNotice): void;
  /** Releases the role for the next gate. Idempotent. */
  release(): void;
};

/** The process that decides now; null if none does. */
export function findGateHolder(environment: Environment): GateHolder | null {
  const holder = environment.view(() => holderOf(environment));
  if (holder === undefined || !isAlive(holder, heartbeatOf(environment))) return null;
  return { pid: holder.pid, name: nameOf(holder), notice: holder.notice ?? null };
}

/**
 * @param nonce must differ between any two calls.
 * @throws FatalError `role_taken`, with the holder's pid.
 */
export function acquireGateRole(environment: Environment, log: LmdbLog, nonce: string): GateRole {
  const me: Holder = { ...thisProcess(), nonce, thread: threadId };
  const heartbeatPath = heartbeatOf(environment);
  environment.transact(() => {
    const holder = holderOf(environment);
    if (holder !== undefined && isAlive(holder, heartbeatPath)) throw taken(environment, holder);
    environment.tables.byName.putSync(KEY, Buffer.from(JSON.stringify(me)));
  });
  heldHere.add(nonce);
  touch(heartbeatPath);
  const heartbeat = setInterval(() => touch(heartbeatPath), HEARTBEAT_MS).unref();
  return {
    takeOver: async (partition) =>
      environment.transact(() => {
        // A holder that was replaced while suspended must not fence its successor.
        if (holderOf(environment)?.nonce !== nonce) throw replaced(environment);
        return createWriter(log, partition);
      }),
    publish: (notice) =>
      environment.transact(() => {
        if (holderOf(environment)?.nonce !== nonce) return;
        environment.tables.byName.putSync(KEY, Buffer.from(JSON.stringify({ ...me, notice })));
      }),
    release: () => {
      clearInterval(heartbeat);
      if (!heldHere.delete(nonce) || environment.closed) return;
      environment.transact(() => {
        if (holderOf(environment)?.nonce === nonce) environment.tables.byName.removeSync(KEY);
      });
    },
  };
}

/** Removes the role from a copy: its holder holds it in the original. */
export function dropGateRole(environment: Environment): void {
  environment.transact(() => environment.tables.byName.removeSync(KEY));
}

function holderOf({ tables }: Environment): Holder | undefined {
  const bytes = tables.byName.get(KEY);
  return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as Holder);
}

function heartbeatOf({ dataDir }: Environment): string {
  return join(dataDir, HEARTBEAT_FILE);
}

function replaced({ dataDir }: Environment): FencedError {
  return new FencedError(`another gate has taken \`${dataDir}\` over`);
}

function createWriter(log: LmdbLog, partition: number): PartitionWriter {
  const { epoch } = log.fence(partition);
  return {
    partition,
    recordedOffsets: async (): Promise<PerInput> => log.recordedOffsets(partition),
    commit: (batch): Promise<CommitOutcome> => log.commit(partition, epoch, batch),
    close: async (): Promise<void> => undefined,
  };
}

function isAlive(holder: Holder, heartbeatPath: string): boolean {
  const { pid, thread, nonce } = holder;
  const hasHeartbeat = (): boolean => heartbeatAgeMs(heartbeatPath) < HEARTBEAT_STALE_MS;
  if (!isInSight(holder)) return hasHeartbeat();
  if (pid !== process.pid) return isRunning(holder);
  if (thread === threadId) return heldHere.has(nonce);
  return isRunning(holder) && hasHeartbeat();
}

function taken(environment: Environment, holder: Holder): FatalError {
  return new FatalError(
    "role_taken",
    `\`${environment.dataDir}\` is in use by another gate, ${nameOf(holder)}: stop that one, ` +
      "use another data directory, or open it with `shared: true` in both processes",
    { context: { pid: holder.pid, host: holder.host } },
  );
}

function heartbeatAgeMs(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function touch(path: string): void {
  try {
    closeSync(openSync(path, "a"));
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // Only a gate on another host uses the heartbeat, and fencing protects the log all the
    // same.
  }
}
