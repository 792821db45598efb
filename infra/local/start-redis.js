import { connect } from "node:net";
import { join } from "node:path";
import { findFreePorts } from "./free-ports.js";
import { serverFolder, startServer } from "./local-server.js";
import { requirePrograms } from "./missing.js";

const HOST = "127.0.0.1";
const READY_WITHIN_MS = 60_000;
const ANSWER_WITHIN_MS = 1_000;

/**
 * @typedef {{
 *   port?: number | undefined,
 *   folder?: string,
 *   args?: readonly string[],
 *   keepFolder?: boolean,
 * }} RedisOptions `args`: further options of redis-server, such as `["--maxmemory", "4mb"]`, which override ours.
 *
 * @typedef {import("./local-server.js").LocalServer} LocalRedis
 */

/**
 * Starts a Redis server that stores nothing on disk, and waits until it answers.
 * @param {RedisOptions} [options]
 * @returns {Promise<LocalRedis>}
 */
export async function startRedis(options = {}) {
  requirePrograms(["redis-server"]);
  const folder = serverFolder("redis", options);
  const port = options.port ?? (await findFreePorts(1))[0] ?? 0;
  const where = ["--bind", HOST, "--port", String(port), "--dir", folder];
  return startServer({
    what: "Redis",
    command: "redis-server",
    args: [...where, "--save", "", "--appendonly", "no", ...(options.args ?? [])],
    folder,
    logFile: join(folder, "redis.log"),
    url: `redis://${HOST}:${port}`,
    port,
    withinMs: READY_WITHIN_MS,
    answers: () => ping(port),
  });
}

/**
 * Resolves at any answer: a server that asks for a password is up as well.
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
