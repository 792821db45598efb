/**
 * A lock that lets one process at a time write a directory.
 *
 * LOCK-1 An owner on another host or in another container counts as gone when its heartbeat did not
 *    change while it was watched. The clock times of heartbeats are not compared: clocks differ,
 *    and jump when a host resumes.
 * LOCK-2 An owner that was taken for gone and comes back finds another owner in the file, and
 *    writes no more.
 * LOCK-3 A stale lock is replaced in one step; if several processes replace it, the last one owns
 *    it.
 */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { FatalError } from "../../runtime/errors.ts";
import type { Clock } from "../../runtime/ports.ts";
import { makeDirectory } from "../system/make-directory.ts";
import {
  isInSight,
  isRunning,
  nameOf,
  type ProcessIdentity,
  thisProcess,
} from "../system/process-identity.ts";

const HEARTBEAT_MS = 2_000;
const HEARTBEAT_STALE_MS = 15_000;
/** Longer than a process takes from finding a lock stale to replacing it. */
const SETTLE_MS = 250;

export type DirectoryLock = {
  /**
   * Must be called before each write. @throws FatalError `role_taken` where another process owns
   * it.
   */
  check(): void;
  release(): void;
};

type LockFile = { readonly directory: string; readonly role: string; readonly path: string };

/**
 * Takes the lock. A lock of a process that is gone is taken over; where the process cannot be seen,
 * only after it was watched (LOCK-1).
 * @param role the task of the process, for the file's name and the message.
 * @throws FatalError `role_taken` while another process owns the lock.
 */
export async function lockDirectory(
  directory: string,
  role: string,
  clock: Pick<Clock, "sleep">,
): Promise<DirectoryLock> {
  makeDirectory(directory);
  const lockFile = { directory, role, path: join(directory, `${role}.lock`) };
  const { path } = lockFile;
  const mine = JSON.stringify({ ...thisProcess(), nonce: randomUUID() });
  while (!createLock(path, mine)) {
    const theirs = readText(path);
    if (await isHeld(theirs, path, clock)) throw taken(lockFile, readText(path));
    if (readText(path) !== theirs) continue;
    replace(path, mine);
    await clock.sleep(SETTLE_MS);
    if (readText(path) === mine) break;
  }
  return keep(lockFile, mine);
}

function keep(lockFile: LockFile, mine: string): DirectoryLock {
  const { path } = lockFile;
  const isMine = (): boolean => readText(path) === mine;
  const heartbeat = setInterval(() => {
    if (isMine()) touch(path);
  }, HEARTBEAT_MS).unref();
  return {
    check: () => {
      if (!isMine()) throw taken(lockFile, readText(path));
    },
    release: () => {
      clearInterval(heartbeat);
      if (isMine()) rmSync(path, { force: true });
    },
  };
}

/** False where the file exists. */
function createLock(path: string, text: string): boolean {
  try {
    const handle = openSync(path, "wx");
    writeSync(handle, text);
    closeSync(handle);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST") throw error;
    return false;
  }
}

function replace(path: string, text: string): void {
  const next = `${path}.${randomUUID()}`;
  writeFileSync(next, text);
  renameSync(next, path);
}

/** Undefined where the file names no process: its writer has not written yet, or ended before. */
function readHolder(text: string): ProcessIdentity | undefined {
  try {
    const holder = JSON.parse(text) as ProcessIdentity | number;
    return typeof holder === "number" ? undefined : holder;
  } catch {
    return undefined;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as { code?: string }).code !== "ENOENT") throw error;
    return "";
  }
}

async function isHeld(text: string, path: string, clock: Pick<Clock, "sleep">): Promise<boolean> {
  const holder = readHolder(text);
  if (holder === undefined) {
    await clock.sleep(SETTLE_MS);
    return readText(path) !== text && isHeld(readText(path), path, clock);
  }
  if (isInSight(holder)) return isRunning(holder);
  return hasHeartbeat(path, clock);
}

/** Watches for a heartbeat: true as soon as one comes, false if none comes for long enough. */
async function hasHeartbeat(path: string, clock: Pick<Clock, "sleep">): Promise<boolean> {
  const before = lastHeartbeat(path);
  for (let watchedMs = 0; watchedMs < HEARTBEAT_STALE_MS; watchedMs += HEARTBEAT_MS) {
    await clock.sleep(HEARTBEAT_MS);
    if (lastHeartbeat(path) !== before) return true;
  }
  return false;
}

function lastHeartbeat(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

function touch(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // A process that takes over for lack of a heartbeat is noticed before the next write
    // (LOCK-2).
  }
}

function taken({ directory, role }: LockFile, text: string): FatalError {
  const holder = readHolder(text);
  const who = holder === undefined ? "another process" : nameOf(holder);
  return new FatalError(
    "role_taken",
    `${directory} is in use by the ${role} of ${who}: end it, or use another directory`,
  );
}
