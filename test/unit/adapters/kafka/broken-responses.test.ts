// A server on a broker's port that does not speak Kafka ends a connection, and never the process.
import { once } from "node:events";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { loadKafkajs } from "../../../../services/adapters/kafka/mends.ts";

test.each([
  ["a frame with nothing in it", Buffer.from([0, 0, 0, 0])],
  ["a frame shorter than its number", Buffer.from([0, 0, 0, 2, 1, 1])],
  ["a frame of negative length", Buffer.from([255, 255, 255, 0, 1, 1, 1, 1])],
])("%s is told as a lost connection", async (_name, answer) => {
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
