import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endChild, removeAtEnd, startChild, waitUntilGone, waitUntilReady } from "./child.js";
import { findFreePorts } from "./free-ports.js";
import { requirePrograms } from "./missing.js";
import { isAlive, killIfSame } from "./process-identity.js";

const HOST = "127.0.0.1";
const READY_WITHIN_MS = 20_000;
const ANSWER_WITHIN_MS = 1_000;

/**
 * @typedef {import("./child.js").ProcessIdentity} ProcessIdentity
 * @typedef {{
 *   port?: number | undefined,
 *   folder?: string,
 *   args?: readonly string[],
 *   keepFolder?: boolean,
 * }} RedisOptions `args`: further options of redis-server, such as `["--maxmemory", "4mb"]`; they win.
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
 * }} LocalRedis
 */

/**
 * Starts a Redis server that keeps nothing on disk, and waits until it answers.
 * @param {RedisOptions} [options]
 * @returns {Promise<LocalRedis>}
 */
export async function startRedis(options = {}) {
  requirePrograms(["redis-server"]);
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "callgate-redis-"));
  mkdirSync(folder, { recursive: true });
  if (options.keepFolder !== true) removeAtEnd(folder);
  const port = options.port ?? (await findFreePorts(1))[0] ?? 0;
  const where = ["--bind", HOST, "--port", String(port), "--dir", folder];
  const args = [...where, "--save", "", "--appendonly", "no", ...(options.args ?? [])];
  const logFile = join(folder, "redis.log");

  const start = async () => {
    const started = await startChild({ command: "redis-server", args, logFile });
    const context = { identity: started, what: "Redis", logFile, withinMs: READY_WITHIN_MS };
    await waitUntilReady(context, () => ping(port));
    return started;
  };
  const end = (/** @type {NodeJS.Signals | undefined} */ signal) => endChild(identity, signal);
  let identity = await start();
  return {
    url: `redis://${HOST}:${port}`,
    port,
    get pid() {
      return identity.pid;
    },
    identity: () => identity,
    isAlive: () => isAlive(identity),
    kill: (signal = "SIGKILL") => killIfSame(identity, signal),
    waitForExit: () => waitUntilGone(identity),
    restart: async (signal) => {
      await end(signal);
      identity = await start();
    },
    stop: async () => {
      await end(undefined);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Any answer will do: one that asks for a password is up as well.
 * @param {number} port
 * @returns {Promise<void>}
 */
function ping(port) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, HOST, () => socket.write("PING\r\n"));
    socket.setTimeout(ANSWER_WITHIN_MS, () => socket.destroy(new Error("no answer to PING")));
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the connection was closed")));
    socket.once("data", (data) => {
      socket.destroy();
      const loading = data.toString().startsWith("-LOADING");
      if (loading) reject(new Error("it is loading its data"));
      else resolve();
    });
  });
}
