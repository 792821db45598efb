// A connection that breaks in the middle of a response and is opened again, without and with the patch.
import { once } from "node:events";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { forgetPartialResponses } from "../../../../services/adapters/kafka/patches/partial-responses.ts";

const require = createRequire(import.meta.url);

type Connection = {
  connect(): Promise<unknown>;
  disconnect(): Promise<unknown>;
  isConnected(): boolean;
  send(what: object): Promise<unknown>;
};
type ConnectionClass = {
  new (options: object): Connection;
  readonly prototype: Parameters<typeof forgetPartialResponses>[0]["prototype"];
};

/** Position of the correlation id in a request, after size, key and version. */
const CORRELATION_AT = 8;
/** The first six bytes of a response of a hundred. */
const CUT_OFF = Buffer.from([0, 0, 0, 100, 0, 0, 0, 0, 1, 2]);
const REQUEST_TIMEOUT_MS = 300;

/** A subclass, so that a patch does not affect other tests. */
function connectionClass(): ConnectionClass {
  const id = require.resolve("kafkajs/src/network/connection");
  delete require.cache[id];
  return require(id) as ConnectionClass;
}

/** Sends its first client a part of a response and hangs up; answers the others as a broker does. */
async function brokerOfParts(): Promise<number> {
  let clients = 0;
  const server = createServer((socket) => {
    clients += 1;
    const isFirst = clients === 1;
    socket.on("error", () => undefined);
    socket.on("data", (request) => {
      if (isFirst) return socket.end(CUT_OFF);
      const head = Buffer.from([0, 0, 0, 8]);
      const id = request.subarray(CORRELATION_AT, CORRELATION_AT + 4);
      return socket.write(Buffer.concat([head, id, Buffer.from("done")]));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

function connectionTo(port: number, made: ConnectionClass): Connection {
  const quietLogger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const socketFactory = require("kafkajs/src/network/socketFactory") as () => unknown;
  const connection = new made({
    ...{ host: "127.0.0.1", port, logger: { namespace: () => quietLogger } },
    ...{ socketFactory: socketFactory(), connectionTimeout: 1_000 },
    requestTimeout: REQUEST_TIMEOUT_MS,
  });
  onTestFinished(() => connection.disconnect().then(() => undefined));
  return connection;
}

function ask(connection: Connection): Promise<unknown> {
  const Encoder = require("kafkajs/src/protocol/encoder") as new () => object;
  const request = { apiKey: 18, apiVersion: 0, apiName: "ApiVersions" };
  const response = {
    decode: (payload: Buffer): Promise<string> => Promise.resolve(String(payload)),
    parse: (text: string): Promise<string> => Promise.resolve(text),
  };
  return connection.send({
    request: { ...request, encode: () => Promise.resolve(new Encoder()) },
    response,
  });
}

async function askTwice(made: ConnectionClass): Promise<unknown> {
  const connection = connectionTo(await brokerOfParts(), made);
  await connection.connect();
  await expect(ask(connection)).rejects.toThrow(/[Cc]losed connection/);
  await expect.poll(() => connection.isConnected()).toBe(false);
  await connection.connect();
  return ask(connection);
}

test("the published kafkajs understands no response after a partial one", async () => {
  await expect(askTwice(connectionClass())).rejects.toThrow(/timed out/);
});

test("the patch drops a partial response with its connection", async () => {
  const patched = connectionClass();
  forgetPartialResponses(patched);
  expect(await askTwice(patched)).toBe("done");
});
