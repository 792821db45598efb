// The connections of a client whose broker accepts them and never answers.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import {
  createKafka,
  endConnections,
  OpenSockets,
} from "../../../../services/adapters/kafka/client.ts";
import { quietLogger } from "../../../../services/runtime/quiet-logger.ts";

async function startMuteBroker() {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on("error", () => undefined));
    socket.once("close", () => open.delete(socket)).resume();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, open };
}

test("ends all connections of a client", async () => {
  const { port, open } = await startMuteBroker();
  const settings = { clientId: "c", ssl: null, sasl: null, connectionTimeoutMs: 60_000 };
  const kafka = createKafka(
    { ...settings, brokers: [`127.0.0.1:${port}`], requestTimeoutMs: 60_000 },
    quietLogger,
  );
  const admin = kafka.admin();
  const connected = admin.connect().catch((error: unknown) => error);
  await expect.poll(() => open.size).toBe(1);
  endConnections(kafka);
  await expect.poll(() => open.size).toBe(0);
  void admin.disconnect().catch(() => undefined);
  expect(String(await connected)).toContain("was closed");
}, 30_000);

test("refuses connections once it has ended, and forgets closed ones", async () => {
  const { port, open } = await startMuteBroker();
  const sockets = new OpenSockets(({ host, onConnect }) => connect({ host, port }, onConnect));
  const address = { host: "127.0.0.1", port, ssl: {}, onConnect: () => undefined };
  const closed = sockets.open(address).on("error", () => undefined);
  const remaining = sockets.open(address);
  const failed = once(remaining, "error");
  await expect.poll(() => open.size).toBe(2);
  closed.destroy();
  await expect.poll(() => open.size).toBe(1);
  sockets.end();
  expect(String(await failed)).toContain("was closed");
  expect(() => sockets.open(address)).toThrow("connects no more");
});
