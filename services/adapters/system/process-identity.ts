/**
 * Which process has something, told to others by a file or a store, and whether it still runs.
 *
 * A number of a process means nothing by itself: it is used again, differs between hosts, and between containers
 * of one host.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

export type ProcessIdentity = {
  readonly pid: number;
  readonly host: string;
  /** Where the number is one: containers of one host may share its name. Absent: not known. */
  readonly space?: string;
  /** When the process began, in the system's own unit: a number may be used again. Absent: not known. */
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

/** False: nothing can be said of it from here but by the signs that it gives. */
export function isInSight({ host, space }: ProcessIdentity): boolean {
  return host === hostname() && space === processSpace();
}

/** Of a process in sight. */
export function isRunning({ pid, begun }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as { code?: string }).code !== "EPERM") return false;
  }
  const currentBegin = processBegin(pid);
  return begun === undefined || currentBegin === undefined || currentBegin === begun;
}

/** For a message: the process, and its host where that is another. */
export function nameOf({ pid, host }: ProcessIdentity): string {
  return host === hostname() ? `process ${pid}` : `process ${pid} on host ${host}`;
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

/** Linux' name for what gives out the numbers of processes; elsewhere unknown. */
function processSpace(): string | undefined {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return undefined;
  }
}
