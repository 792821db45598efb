/** The sockets of the server: where it listens, how long a request may take, and an orderly end. */
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { isIP } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { ServeApp } from "../serve-env.ts";

export type ConnectionLimits = {
  readonly headersMs: number;
  /** For the whole request, its body too: a slow sender does not hold a connection for longer. */
  readonly requestMs: number;
  readonly keepAliveMs: number;
  /** How often the server looks for connections that are over these times. */
  readonly checkEveryMs: number;
};

const LIMITS: ConnectionLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 65_000,
  checkEveryMs: 1_000,
};
const HEADER_BYTES_MAX = 16 * 1024;
const CONNECTIONS_MAX = 10_000;
/** How often connections that became idle are closed while the server ends. */
const IDLE_EVERY_MS = 20;
/** How long a connection may stay without a request while the server ends. */
const UNUSED_MS = 500;

export type ListenAddress = { readonly host: string; readonly port: number };

export interface HttpServer {
  readonly url: string;
  readonly port: number;
  /** Answers what is in flight within the time, then closes all connections. False: it was late. */
  close(timeMs: number): Promise<boolean>;
}

/** @throws the system's error where the server cannot listen on the address. */
export async function listen(
  app: Pick<ServeApp, "fetch">,
  { host, port }: ListenAddress,
  { headersMs, requestMs, keepAliveMs, checkEveryMs }: ConnectionLimits = LIMITS,
): Promise<HttpServer> {
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      keepAliveTimeout: keepAliveMs,
      connectionsCheckingInterval: checkEveryMs,
    },
    (request, response) => void answer(request, response),
  );
  const unused = unusedConnections(server);
  server.headersTimeout = headersMs;
  server.requestTimeout = requestMs;
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const actual = (server.address() as AddressInfo).port;
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${actual}`,
    port: actual,
    close: (timeMs) => closeServer(server, unused, timeMs),
  };
}

/** Connections that have sent no request yet, which Node does not count as idle. */
function unusedConnections(server: Server): ReadonlySet<Socket> {
  const unused = new Set<Socket>();
  server.on("connection", (socket) => {
    unused.add(socket);
    socket.once("close", () => unused.delete(socket));
  });
  server.on("request", ({ socket }) => unused.delete(socket));
  return unused;
}

function closeServer(
  server: Server,
  unused: ReadonlySet<Socket>,
  timeMs: number,
): Promise<boolean> {
  return new Promise((resolve) => {
    let isLate = false;
    // A request may be on its way.
    const sweep = setTimeout(() => {
      for (const socket of unused) socket.destroy();
    }, UNUSED_MS);
    const late = setTimeout(() => {
      isLate = true;
      server.closeAllConnections();
    }, timeMs);
    // A connection whose last request has been answered would stay open until its client closes it.
    const idle = setInterval(() => server.closeIdleConnections(), IDLE_EVERY_MS);
    server.close(() => {
      clearTimeout(late);
      clearTimeout(sweep);
      clearInterval(idle);
      resolve(!isLate);
    });
    server.closeIdleConnections();
  });
}

const LOOPBACK_NAMES = new Set(["localhost", "127.0.0.1", "::1", "[::1]"]);

export function isLoopback(host: string): boolean {
  return LOOPBACK_NAMES.has(host) || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Whether a `Host` header names this server under its loopback address or a configured name. */
export function ownHosts(names: readonly string[]): (host: string) => boolean {
  const own = new Set([...LOOPBACK_NAMES, ...names.map((name) => name.toLowerCase())]);
  return (host) => own.has(host.toLowerCase().replace(/:\d{1,5}$/, ""));
}
