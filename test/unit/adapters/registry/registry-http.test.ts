// Answers of a registry, of a proxy before it, and of other servers.
import { Agent, createServer, type IncomingMessage, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  exchange,
  type RegistryRequest,
  type RegistryServer,
  StatusError,
} from "../../../../services/adapters/registry/registry-http.ts";

type Seen = Pick<IncomingMessage, "method" | "url" | "headers"> & { readonly body: string };

const agent = new Agent({ keepAlive: true });
let answer: { readonly status: number; readonly body: string } | "silence";
let seen: Seen[];
let server: Server;
let registry: RegistryServer;

beforeEach(async () => {
  answer = { status: 200, body: "{}" };
  seen = [];
  server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method, url, headers } = request;
      seen.push({ method, url, headers, body });
      if (answer !== "silence") response.writeHead(answer.status).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}/base`;
  registry = { url, agent, credentials: undefined, clientId: "test", timeoutMs: 5_000 };
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const SUBJECTS: RegistryRequest = { method: "GET", path: "/subjects" };

describe("a request to the registry", () => {
  it("sends JSON with credentials below the base address", async () => {
    const credentials = { username: "ann", password: "päss:word" };
    const request: RegistryRequest = { method: "POST", path: "/subjects/a", body: { schema: "é" } };
    await exchange({ ...registry, credentials }, request);
    expect(seen).toMatchObject([
      {
        method: "POST",
        url: "/base/subjects/a",
        body: '{"schema":"é"}',
        headers: {
          "content-type": "application/vnd.schemaregistry.v1+json",
          "user-agent": "callgate (test)",
          authorization: `Basic ${Buffer.from("ann:päss:word").toString("base64")}`,
        },
      },
    ]);
  });

  it("reuses its connection", async () => {
    let connections = 0;
    server.on("connection", () => {
      connections += 1;
    });
    await exchange(registry, SUBJECTS);
    await exchange(registry, SUBJECTS);
    expect(connections).toBe(1);
  });

  it.each([
    ["an object", '{"id":7}', { id: 7 }],
    ["nothing", "", null],
  ])("returns the data of an answer with %s", async (_, body, data) => {
    answer = { status: 200, body };
    expect(await exchange(registry, SUBJECTS)).toEqual(data);
  });

  it.each([
    ["the registry's message", 409, '{"message":"incompatible"}', "incompatible"],
    [
      "the status where there is no message",
      302,
      "<html>",
      "it does not answer as a schema registry does: it sent status 302",
    ],
  ])("fails with %s", async (_, status, body, message) => {
    answer = { status, body };
    await expect(exchange(registry, SUBJECTS)).rejects.toEqual(new StatusError(status, message));
    await expect(exchange(registry, SUBJECTS)).rejects.toMatchObject({ status });
  });

  it("fails on a page of another server", async () => {
    answer = { status: 200, body: "<html>" };
    await expect(exchange(registry, SUBJECTS)).rejects.toThrow(
      "it does not answer as a schema registry does",
    );
  });

  it("ends the connection of an answer that is late", async () => {
    answer = "silence";
    const closed = new Promise<void>((resolve) => {
      server.once("connection", (socket) => socket.once("close", () => resolve()));
    });
    const request = exchange({ ...registry, timeoutMs: 50 }, SUBJECTS);
    await expect(request).rejects.toThrow("no answer within 50 ms");
    await closed;
  });
});
