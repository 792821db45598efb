// Finds free ports below the range that the system uses for outgoing connections: a part that is stopped
// and started again must find its port free.
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

const PORT_MIN = 20_000;
const PORT_MAX = 32_000;
const TRIES_MAX = 200;

/**
 * Ports that this process has received. Parts that start side by side listen seconds later, so without
 * this set two of them would get one port.
 * @type {Set<number>}
 */
const ASSIGNED_PORTS = new Set();

/**
 * @param {number} port
 * @returns {Promise<import("node:net").Server | undefined>} undefined when it is taken
 */
function listen(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}

/**
 * Different ports on 127.0.0.1 that nobody listens on now and that this process has not received before.
 * @param {number} count
 */
export async function findFreePorts(count) {
  /** @type {Map<number, import("node:net").Server>} */
  const held = new Map();
  for (let tries = 0; held.size < count && tries < TRIES_MAX; tries += 1) {
    const port = randomInt(PORT_MIN, PORT_MAX);
    if (ASSIGNED_PORTS.has(port)) continue;
    ASSIGNED_PORTS.add(port);
    const server = await listen(port);
    if (server !== undefined) held.set(port, server);
  }
  await Promise.all([...held.values()].map((server) => new Promise((done) => server.close(done))));
  if (held.size < count) throw new Error(`no ${count} free ports were found on 127.0.0.1`);
  return [...held.keys()];
}
