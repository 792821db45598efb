/**
 * One process at a time writes a directory.
 *
 * LOCK-1 an owner whose process cannot be seen from here (another host, another container) is taken to be
 *    gone when its sign of life stood still while it was watched. Clocks do not count: they differ, and
 *    jump when a machine wakes up.
 * LOCK-2 who was thought to be gone and comes back finds another's name in the file, and writes no more.
 * LOCK-3 a stale lock is replaced in one step; of several who do so at once the last one has it.
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
/** Longer than others take from finding a lock stale to replacing it. */
const SETTLE_MS = 250;

export type DirectoryLock = {
  /** To be called before each write. @throws FatalError `role_taken` where another has it by now. */
  check(): void;
  release(): void;
};

type LockFile = { readonly directory: string; readonly role: string; readonly path: string };

/**
 * A lock whose process is gone is taken over; one whose process cannot be seen, after it was watched.
 * @param role what is done there, for the file's name and the message.
 * @throws FatalError `role_taken` while another one has it.
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
  while (!wasMade(path, mine)) {
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

function wasMade(path: string, text: string): boolean {
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

/** Undefined where the file names nobody: its writer has not written yet, or ended before. */
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
  return givesSigns(path, clock);
}

/** Resolves when a sign of life came, or none for long enough. */
async function givesSigns(path: string, clock: Pick<Clock, "sleep">): Promise<boolean> {
  const before = lastSign(path);
  for (let watchedMs = 0; watchedMs < HEARTBEAT_STALE_MS; watchedMs += HEARTBEAT_MS) {
    await clock.sleep(HEARTBEAT_MS);
    if (lastSign(path) !== before) return true;
  }
  return false;
}

function lastSign(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

function touch(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // Who misses the sign and takes over is found before the next write (LOCK-2).
  }
}

function taken({ directory, role }: LockFile, text: string): FatalError {
  const holder = readHolder(text);
  const who = holder === undefined ? "another process" : nameOf(holder);
  return new FatalError(
    "role_taken",
    `${directory} is written by the ${role} of ${who}: end it, or name another directory`,
  );
}
