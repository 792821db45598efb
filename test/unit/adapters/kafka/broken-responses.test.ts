// A server on a broker's port that does not speak Kafka ends a connection, but not the process.
import { once } from "node:events";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { loadKafkajs } from "../../../../services/adapters/kafka/patches/load-kafkajs.ts";
import { PrivatePackage } from "../../../../services/adapters/kafka/patches/private-package.ts";

type Connection = { processData(data: Buffer): unknown };

const BROKEN: readonly (readonly [string, Buffer])[] = [
  ["a frame with nothing in it", Buffer.from([0, 0, 0, 0])],
  ["a frame shorter than its number", Buffer.from([0, 0, 0, 2, 1, 1])],
  ["a frame of negative length", Buffer.from([255, 255, 255, 0, 1, 1, 1, 1])],
];

test.each(BROKEN)("the published kafkajs throws in a socket's event for %s", (_name, answer) => {
  const copy = new PrivatePackage("kafkajs");
  const Stock = copy.load("src/network/connection") as new (options: object) => Connection;
  const quietLogger = { debug: () => undefined, error: () => undefined };
  const connection = new Stock({
    ...{ host: "127.0.0.1", port: 1, connectionTimeout: 1_000, requestTimeout: 1_000 },
    logger: { namespace: () => quietLogger },
  });
  expect(() => connection.processData(answer)).toThrow(RangeError);
});

test.each(BROKEN)("the patch reports %s as a lost connection", async (_name, answer) => {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.write(answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const { Kafka, logLevel } = loadKafkajs();
  const brokers = [`127.0.0.1:${address.port}`];
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING, retry: { retries: 0 } });
  const admin = kafka.admin();
  onTestFinished(() => admin.disconnect());
  await expect(admin.connect()).rejects.toThrow(/does not answer as a Kafka broker does/);
});
