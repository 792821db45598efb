/** Serves `/livez`, `/readyz` and `/metrics`. Requests change nothing and need no credentials. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const HEADERS_MS_MAX = 5_000;
const CONNECTIONS_MAX = 64;

export type Health = {
  readonly ok: boolean;
  /** The reason, as plain data. */
  readonly detail: object;
};

export type HealthParts = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Whether the process is healthy; otherwise an orchestrator restarts it. */
  readonly live: () => Health;
  /** Whether the process does its work now. */
  readonly ready: () => Health;
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
};

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws the system's error where the server cannot listen on the address. */
export async function startHealthServer(parts: HealthParts): Promise<HealthServer> {
  const server = createServer((request, response) => {
    answer(parts, request.method, request.url, response).catch(() => {
      if (!response.headersSent) sendJson(response, 500, { error: "the metrics cannot be read" });
      else response.destroy();
    });
  });
  server.headersTimeout = HEADERS_MS_MAX;
  server.requestTimeout = HEADERS_MS_MAX;
  server.maxConnections = CONNECTIONS_MAX;
  await listen(server, parts);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, { host, port }: HealthParts): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

async function answer(
  parts: HealthParts,
  method: string | undefined,
  url: string | undefined,
  response: ServerResponse,
): Promise<void> {
  if (method !== "GET" && method !== "HEAD") {
    response.setHeader("allow", "GET, HEAD");
    return sendJson(response, 405, { error: "only GET and HEAD are answered" });
  }
  switch ((url ?? "").split("?", 1)[0]) {
    case "/livez":
      return sendHealth(response, parts.live());
    case "/readyz":
      return sendHealth(response, parts.ready());
    case "/metrics": {
      const text = await parts.metrics.text();
      return send(response, 200, parts.metrics.contentType, text);
    }
    default:
      return sendJson(response, 404, { error: "the paths are /livez, /readyz and /metrics" });
  }
}

const OK = 200;
const NOT_NOW = 503;

function sendHealth(response: ServerResponse, { ok, detail }: Health): void {
  sendJson(response, ok ? OK : NOT_NOW, { ok, ...detail });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  send(response, status, "application/json; charset=utf-8", `${JSON.stringify(body)}\n`);
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    "content-type": type,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
  });
  response.end(body);
}
