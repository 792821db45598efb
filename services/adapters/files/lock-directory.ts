/** One process at a time writes a directory. */
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { FatalError } from "../../runtime/errors.ts";

const HEARTBEAT_MS = 2_000;
const HEARTBEAT_STALE_MS = 15_000;

type Holder = {
  readonly pid: number;
  readonly host: string;
  /** When the process began, in the system's own unit: a number may be used again. Absent: not known. */
  readonly begun?: string;
};

/**
 * Gives what lets go of it. A lock whose process is gone is taken over; one of another host (every
 * container is one, and gives its first process the same number) when its signs of life have stopped.
 * @param role what is done there, for the file's name and the message.
 * @throws FatalError `role_taken` while another one has it.
 */
export function lockDirectory(directory: string, role: string): () => void {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `${role}.lock`);
  const begun = processBegin(process.pid);
  const me: Holder = {
    pid: process.pid,
    host: hostname(),
    ...(begun === undefined ? {} : { begun }),
  };
  const mine = JSON.stringify(me);
  while (!wasMade(path, mine)) {
    const holder = readHolder(path);
    if (holder !== undefined && isAlive(holder, path)) throw taken(directory, role, holder);
    rmSync(path, { force: true });
  }
  const heartbeat = setInterval(() => touch(path), HEARTBEAT_MS).unref();
  return () => {
    clearInterval(heartbeat);
    if (readText(path) === mine) rmSync(path, { force: true });
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

/** Undefined where the file names nobody (its writer ended before it had written), or a mere number. */
function readHolder(path: string): Holder | undefined {
  try {
    const holder = JSON.parse(readText(path)) as Holder | number;
    return typeof holder === "number" ? undefined : holder;
  } catch {
    return undefined;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function isAlive(holder: Holder, path: string): boolean {
  if (holder.host !== hostname()) return ageMs(path) < HEARTBEAT_STALE_MS;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as { code?: string }).code !== "EPERM") return false;
  }
  const begun = processBegin(holder.pid);
  return holder.begun === undefined || begun === undefined || begun === holder.begun;
}

/**
 * Fields 3 and 22 of Linux' stat line, which follow the command's name in parentheses; elsewhere
 * unknown. A process that has ended and waits for its parent to notice began at no time.
 */
function processBegin(pid: number): string | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? "ended" : fields[19];
  } catch {
    return undefined;
  }
}

function ageMs(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function touch(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // A missing sign of life only matters to another host, which then finds no lock at all.
  }
}

function taken(directory: string, role: string, holder: Holder): FatalError {
  const place = holder.host === hostname() ? "" : ` on host ${holder.host}`;
  return new FatalError(
    "role_taken",
    `${directory} is written by the ${role} of process ${holder.pid}${place}: end it, or name another directory`,
  );
}
