import { Hono } from "hono";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../../../../services/serve/http/listen.ts";
import { RawConnection } from "../../../support/serve/raw-request.ts";

async function openServer() {
  const app = new Hono();
  app.onError((_error, c) => c.text("", 500));
  app.post("/", async (c) => c.text(await c.req.text()));
  const limits = { headersMs: 100, requestMs: 200, keepAliveMs: 100, checkEveryMs: 20 };
  const server = await listen(app, { host: "127.0.0.1", port: 0 }, limits);
  onTestFinished(async () => {
    await server.close(0);
  });
  return server;
}

const HEAD = "POST / HTTP/1.1\r\nHost: localhost\r\n";

test.each([
  ["whose headers do not end", HEAD, [408]],
  ["whose body does not end", `${HEAD}Content-Length: 10\r\n\r\n12345`, [408]],
  ["whose chunks do not end", `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n`, [408]],
  ["that asks nothing more", `${HEAD}Content-Length: 2\r\n\r\n{}`, [200]],
])("closes a connection %s", async (_which, text, statuses) => {
  const server = await openServer();
  const connection = new RawConnection(server.url);
  await connection.write(text);
  await connection.closed;
  expect(connection.statuses()).toEqual(statuses);
});

test("closes a connection that sends its body byte by byte", async () => {
  const server = await openServer();
  const connection = new RawConnection(server.url);
  await connection.write(`${HEAD}Content-Length: 100000\r\n\r\n`);
  let isClosed = false;
  void connection.closed.then(() => {
    isClosed = true;
  });
  for (let sent = 0; sent < 100_000 && !isClosed; sent += 1) {
    await connection.write("x");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(isClosed).toBe(true);
  expect(connection.statuses()).toEqual([408]);
});

test("the end of the server waits for no connection without a request in flight", async () => {
  let begun = 0;
  let goOn: () => void = () => undefined;
  const app = new Hono();
  app.get("/", async (c) => {
    begun += 1;
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    return c.text("answered");
  });
  const server = await listen(app, { host: "127.0.0.1", port: 0 });
  const unused = new RawConnection(server.url);
  const asking = new RawConnection(server.url);
  await asking.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await expect.poll(() => begun).toBe(1);
  const closing = server.close(30_000);
  await unused.closed;
  goOn();
  expect(await closing).toBe(true);
  await asking.closed;
  expect(asking.statuses()).toEqual([200]);
});
