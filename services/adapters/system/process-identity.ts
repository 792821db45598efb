/**
 * Identifies a process in a file or a store, and checks whether it still runs.
 *
 * A process id alone identifies nothing: it is reused, and differs between hosts and between
 * containers of a host.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

export type ProcessIdentity = {
  readonly pid: number;
  readonly host: string;
  /** The pid namespace, since containers may share the host's name. Absent: unknown. */
  readonly space?: string;
  /** The start time in the system's unit, since a process id may be reused. Absent: unknown. */
  readonly begun?: string;
};

export function thisProcess(): ProcessIdentity {
  const begun = processBegin(process.pid);
  const space = processSpace();
  return {
    ...{ pid: process.pid, host: hostname() },
    ...(space === undefined ? {} : { space }),
    ...(begun === undefined ? {} : { begun }),
  };
}

/** False where only the process's heartbeat can show whether it runs. */
export function isInSight({ host, space }: ProcessIdentity): boolean {
  return host === hostname() && space === processSpace();
}

/** For a process in sight. */
export function isRunning({ pid, begun }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as { code?: string }).code !== "EPERM") return false;
  }
  const currentBegin = processBegin(pid);
  return begun === undefined || currentBegin === undefined || currentBegin === begun;
}

/** Names the process for a message, with its host where that is another. */
export function nameOf({ pid, host }: ProcessIdentity): string {
  return host === hostname() ? `process ${pid}` : `process ${pid} on host ${host}`;
}

/**
 * Reads the start time from Linux' stat line: fields 3 and 22, counted after the command's name in
 * parentheses. Undefined on other systems; `ended` for a zombie process.
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

/** The name of the pid namespace on Linux; undefined on other systems. */
function processSpace(): string | undefined {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return undefined;
  }
}
