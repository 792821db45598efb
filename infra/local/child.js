// Starts child processes that write to a log file. The reaper ends them with this process, unless
// `letOutlive` releases them.
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isAlive, killIfSame, readStartedAt } from "./process-identity.js";

const LOG_TAIL_LINES = 20;
const POLL_MS = 50;
const GONE_WITHIN_MS = 30_000;

/** @type {import("node:stream").Writable | undefined} */
let reaper;

/** @param {Record<string, unknown>} order */
function tellReaper(order) {
  if (reaper === undefined) {
    const path = fileURLToPath(new URL("reaper.js", import.meta.url));
    const child = spawn(process.execPath, [path], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    child.unref();
    reaper = child.stdin;
    // Nothing keeps this process alive for its reaper.
    /** @type {import("node:net").Socket} */ (child.stdin).unref();
  }
  reaper.write(`${JSON.stringify(order)}\n`);
}

/**
 * Removes the folder when this process ends.
 * @param {string} folder
 */
export function removeAtEnd(folder) {
  tellReaper({ folder });
}

/**
 * @typedef {{
 *   command: string,
 *   args: readonly string[],
 *   logFile: string,
 *   cwd?: string,
 * }} ChildOptions
 * @typedef {import("./process-identity.js").ProcessIdentity} ProcessIdentity
 */

/**
 * @param {ChildOptions} options
 * @returns {Promise<ProcessIdentity>}
 */
export async function startChild({ command, args, logFile, cwd = process.cwd() }) {
  const log = openSync(logFile, "a");
  const child = spawn(command, args, { cwd, detached: true, stdio: ["ignore", log, log] });
  closeSync(log);
  await new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  child.unref();
  const pid = /** @type {number} */ (child.pid);
  const identity = { pid, startedAt: readStartedAt(pid) ?? "" };
  tellReaper(identity);
  return identity;
}

/**
 * Lets the process go on after this one has ended. Call it once the state file names the process: until
 * then an interrupted start must leave nothing behind.
 * @param {ProcessIdentity} identity
 */
export function letOutlive({ pid }) {
  tellReaper({ letGo: pid });
}

/** @param {ProcessIdentity} identity */
export async function waitUntilGone(identity) {
  while (isAlive(identity)) await sleep(POLL_MS);
}

/**
 * Ends a process and waits until it is gone, and kills it if it does not end. A process that is gone
 * already is no error.
 * @param {ProcessIdentity} identity
 * @param {NodeJS.Signals} [signal]
 */
export async function endChild(identity, signal = "SIGKILL") {
  killIfSame(identity, signal);
  const timer = setTimeout(() => killIfSame(identity, "SIGKILL"), GONE_WITHIN_MS);
  await waitUntilGone(identity);
  clearTimeout(timer);
}

/**
 * Tries `probe` until it does not throw. Throws with the end of the log when the process ends first or
 * the time is over.
 * @param {{ identity: ProcessIdentity, what: string, logFile: string, withinMs: number }} options
 * @param {() => Promise<unknown>} probe
 */
export async function waitUntilReady({ identity, what, logFile, withinMs }, probe) {
  const deadline = Date.now() + withinMs;
  for (;;) {
    try {
      await probe();
      return;
    } catch (error) {
      const gone = !isAlive(identity);
      if (gone || Date.now() > deadline) {
        const why = gone ? "it ended" : `not ready in ${withinMs} ms: ${textOf(error)}`;
        throw new Error(`${what} did not start: ${why}; end of ${logFile}:\n${tail(logFile)}`);
      }
    }
    await sleep(POLL_MS);
  }
}

/** @param {unknown} error */
function textOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** @param {string} path */
function tail(path) {
  return readFileSync(path, "utf8").trimEnd().split("\n").slice(-LOG_TAIL_LINES).join("\n");
}
