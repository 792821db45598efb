// Starts a server of one process on 127.0.0.1, in a folder of its own, and returns its handle.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endChild, removeAtEnd, startChild, waitUntilGone, waitUntilReady } from "./child.js";
import { isAlive, killIfSame } from "./process-identity.js";

/**
 * @typedef {import("./child.js").ProcessIdentity} ProcessIdentity
 *
 * @typedef {{
 *   readonly url: string,
 *   readonly port: number,
 *   readonly pid: number,
 *   identity(): ProcessIdentity,
 *   isAlive(): boolean,
 *   kill(signal?: NodeJS.Signals): boolean,
 *   waitForExit(): Promise<void>,
 *   restart(signal?: NodeJS.Signals): Promise<void>,
 *   stop(): Promise<void>,
 * }} LocalServer
 */

/**
 * The folder of a server: the requested one, or a new one. It is removed at the end unless `keepFolder` is set.
 * @param {string} name
 * @param {{ folder?: string, keepFolder?: boolean }} options
 */
export function serverFolder(name, options) {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), `callgate-${name}-`));
  mkdirSync(folder, { recursive: true });
  if (options.keepFolder !== true) removeAtEnd(folder);
  return folder;
}

/**
 * Starts the server and waits until `answers` succeeds.
 * @param {{
 *   what: string,
 *   command: string,
 *   args: readonly string[],
 *   folder: string,
 *   logFile: string,
 *   url: string,
 *   port: number,
 *   withinMs: number,
 *   answers: () => Promise<void>,
 * }} server
 * @returns {Promise<LocalServer>}
 */
export async function startServer(server) {
  const { what, command, args, folder, logFile, url, port, withinMs, answers } = server;
  const start = async () => {
    const identity = await startChild({ command, args, logFile });
    await waitUntilReady({ identity, what, logFile, withinMs }, answers);
    return identity;
  };
  let identity = await start();
  return {
    url,
    port,
    get pid() {
      return identity.pid;
    },
    identity: () => identity,
    isAlive: () => isAlive(identity),
    kill: (signal = "SIGKILL") => killIfSame(identity, signal),
    waitForExit: () => waitUntilGone(identity),
    restart: async (signal) => {
      await endChild(identity, signal);
      identity = await start();
    },
    stop: async () => {
      await endChild(identity, undefined);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
