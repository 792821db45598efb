// Requests that only cost: the server refuses them, stays alive and small, and lets nothing through.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RawConnection } from "../../support/serve/raw-request.ts";
import { ServeProcess } from "../../support/serve/serve-process.ts";

const POLICY = `
authorization:
  tiers: [{ name: none, pattern: "*", action: deny }]
`;
const MEGABYTE = 1_024 * 1_024;
const HEAD = "POST /v1/proposals HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

let server: ServeProcess;
beforeAll(async () => {
  server = await ServeProcess.start({ policy: POLICY });
});
afterAll(() => server.end());

async function assertServes(): Promise<void> {
  nth += 1;
  const body = { conversationId: `alive-${nth}`, tool: "get_order", arguments: {} };
  const answer = await server.send("POST", "/v1/proposals", { body });
  expect(answer).toMatchObject({ status: 200, body: { outcome: "refused" } });
}
let nth = 0;

/** What answers to these requests may be: no success, and no fault of the server. */
function assertRefused(statuses: readonly number[]): void {
  expect(statuses.filter((status) => status < 400 || status >= 500)).toEqual([]);
}

test("a body that is too large is refused before it is read", async () => {
  const stated = new RawConnection(server.url);
  await stated.write(`${HEAD}Content-Length: ${10 * 1_024 * MEGABYTE}\r\n\r\n{`);
  const chunked = new RawConnection(server.url);
  await chunked.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
  const chunk = `10000\r\n${" ".repeat(0x1_0000)}\r\n`;
  for (let sent = 0; sent < 40 && !chunked.socket.destroyed; sent += 1) await chunked.write(chunk);
  for (const connection of [stated, chunked]) {
    while (connection.statuses().length === 0) await sleep(10);
    expect(connection.statuses()).toEqual([413]);
    connection.end();
  }
  await assertServes();
});

test("a body that is deep, wide or long costs no more than its bytes", async () => {
  const bodies = [
    `{"arguments":${"[".repeat(300_000)}`,
    `{"arguments":{"a":${'{"a":'.repeat(100_000)}1${"}".repeat(100_001)}}`,
    `{${Array.from({ length: 60_000 }, (_, at) => `"k${at}":1`).join(",")}}`,
    `{"tool":"${"x".repeat(900_000)}","conversationId":"c","arguments":{}}`,
    `{"arguments":${"9".repeat(500_000)}}`,
  ];
  for (const body of bodies) {
    const { status, text } = await server.send("POST", "/v1/proposals", { body });
    expect([400, 200], text.slice(0, 200)).toContain(status);
    if (status === 200) expect(JSON.parse(text)).toMatchObject({ outcome: "refused" });
  }
  await assertServes();
});

const REQUESTS_BAD = [
  `${HEAD}Content-Length: 1\r\n\r\n{`,
  `${HEAD}Content-Length: 2\r\n\r\n{}`,
  `${HEAD}Content-Length: 2\r\nAuthorization: Bearer cg_0123456789abcdef_${"A".repeat(43)}\r\n\r\n{}`,
  `${HEAD}Content-Length: 2\r\nOrigin: https://evil.example\r\n\r\n{}`,
  "POST /v1/proposals HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 2\r\n\r\n{}",
  "POST /v1/proposals HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
  "GET /v1/decisions/nothing?wait=x HTTP/1.1\r\nHost: localhost\r\n\r\n",
  "GET /v1/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
  "DELETE /v1/approvals/x HTTP/1.1\r\nHost: localhost\r\n\r\n",
  `GET /${"a".repeat(2_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
];
/** Of 10^5 in all; each connection has so many in flight. */
const CONNECTIONS = 8;
const ROUNDS = 125;
const BATCH = REQUESTS_BAD.join("").repeat(10);

/** Memory after a collection may lie anywhere in the young generations, which are this large. */
const GROWTH_BYTES_MAX = 96 * MEGABYTE;

test("10^5 bad requests leave the server as it was", async () => {
  const send = async (rounds: number): Promise<number> => {
    const connections = Array.from({ length: CONNECTIONS }, () => new RawConnection(server.url));
    const counts = await Promise.all(connections.map((one) => sendBatches(one, rounds)));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  await send(10);
  const before = server.residentBytes();
  expect(await send(ROUNDS)).toBe(CONNECTIONS * ROUNDS * 10 * REQUESTS_BAD.length);
  expect(server.residentBytes() - before).toBeLessThan(GROWTH_BYTES_MAX);
  expect(server.log).not.toContain('"level":"error"');
  await assertServes();
});

/** @returns how many requests were refused */
async function sendBatches(connection: RawConnection, rounds: number): Promise<number> {
  let answered = 0;
  for (let round = 0; round < rounds; round += 1) {
    await connection.write(BATCH);
    let statuses = connection.statuses();
    while (statuses.length < 10 * REQUESTS_BAD.length) {
      if (connection.socket.destroyed) throw new Error(`closed after ${connection.received}`);
      await sleep(2);
      statuses = connection.statuses();
    }
    assertRefused(statuses);
    answered += statuses.length;
    connection.received = "";
  }
  connection.end();
  return answered;
}

test("1000 connections that send nothing, or half a request, stop nobody", async () => {
  const before = server.residentBytes();
  const connections = Array.from({ length: 1_000 }, () => new RawConnection(server.url));
  await Promise.all(
    connections.map((one, at) =>
      one.write(["", "GET / HT", HEAD, `${HEAD}Content-Length: 9\r\n\r\n{`][at % 4] ?? ""),
    ),
  );
  await assertServes();
  expect(server.residentBytes() - before).toBeLessThan(GROWTH_BYTES_MAX);
  for (const one of connections) one.end();
  await assertServes();
});

test("a client that goes away before its answer is forgotten", async () => {
  const token = server.token(["propose"]);
  for (let round = 0; round < 100; round += 1) {
    nth += 1;
    const body = JSON.stringify({
      conversationId: `gone-${nth}`,
      tool: "get_order",
      arguments: {},
    });
    const connection = new RawConnection(server.url);
    const authorization = `Authorization: Bearer ${token}\r\n`;
    await connection.write(`${HEAD}${authorization}Content-Length: ${body.length}\r\n\r\n${body}`);
    connection.end();
  }
  await assertServes();
  expect(server.log).not.toContain('"level":"error"');
});
