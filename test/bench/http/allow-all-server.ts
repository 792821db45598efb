// A server that answers 200 to everything, with the framework of `callgate serve`. It reads each body and
// looks at nothing.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { OpenAPIHono } from "@hono/zod-openapi";

const app = new OpenAPIHono();
app.all("*", async (c) => {
  await c.req.text();
  return c.json({ outcome: "allowed" }, 200);
});
const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
const server = createServer((request, response) => void answer(request, response));
server.listen({ host: "127.0.0.1", port: 0 }, () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`serving http://127.0.0.1:${port}\n`);
});
