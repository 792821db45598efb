// A pid alone does not identify a process, since the system reuses it. The pid and the start time do.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** The field of /proc/PID/stat, counted after the name in brackets, which may contain blanks. */
const STAT_STATE = 0;
const STAT_START_TIME = 19;

/** @typedef {{ pid: number, startedAt: string }} ProcessIdentity */

/**
 * @param {number} pid
 * @returns {string | undefined} undefined when there is no such process, or only its remains
 */
export function readStartedAt(pid) {
  if (!existsSync("/proc/self/stat")) return readStartedAtFromPs(pid);
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[STAT_STATE] === "Z" ? undefined : fields[STAT_START_TIME];
  } catch {
    return undefined;
  }
}

/** @param {number} pid */
function readStartedAtFromPs(pid) {
  const { stdout, status } = spawnSync("ps", ["-o", "lstart=", "-p", String(pid)]);
  return status === 0 ? stdout.toString().trim() : undefined;
}

/** @param {ProcessIdentity} identity */
export function isAlive({ pid, startedAt }) {
  return readStartedAt(pid) === startedAt;
}

/**
 * @param {ProcessIdentity} identity
 * @param {NodeJS.Signals} signal
 */
export function killIfSame(identity, signal) {
  if (!isAlive(identity)) return false;
  try {
    return process.kill(identity.pid, signal);
  } catch {
    return false;
  }
}
