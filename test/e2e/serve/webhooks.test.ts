// A server tells its targets of held calls, also of those that a crash left untold.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { ensureBuilt } from "../../../tasks/ensure-built.js";
import { POLICY } from "../../support/serve/serve-kit.ts";
import { startServer } from "../../support/serve/start-server.ts";

beforeAll(() => ensureBuilt());

type Received = { readonly type: string; readonly id: string };

async function startReceiver() {
  const events: Received[] = [];
  const accepts = { status: 503 };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    if (accepts.status === 200) events.push(JSON.parse(body) as Received);
    response.writeHead(accepts.status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return { url, events, accepts };
}

test("a held call reaches a receiver that was away, after the server was killed", async () => {
  const { url, events, accepts } = await startReceiver();
  const directory = mkdtempSync(join(tmpdir(), "callgate-serve-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "policy.yaml"), POLICY);
  const target = {
    id: "ops",
    url,
    allowPrivate: true,
    secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
  };
  writeFileSync(join(directory, "config.json"), JSON.stringify({ notify: { targets: [target] } }));
  const args = ["--policy", "policy.yaml", "--data-dir", "data", "--config", "config.json"];
  const first = await startServer(args, { cwd: directory });
  onTestFinished(async () => {
    await first.stop("SIGKILL");
  });
  const call = { conversationId: "c", tool: "delete_file", arguments: { path: "/a" } };
  const answer = await fetch(`${first.url}/v1/proposals`, {
    ...{ method: "POST", headers: { "content-type": "application/json" } },
    body: JSON.stringify(call),
  });
  expect(await answer.json()).toMatchObject({ outcome: "held" });
  await first.stop("SIGKILL");
  accepts.status = 200;
  const second = await startServer(args, { cwd: directory });
  onTestFinished(async () => {
    await second.stop("SIGKILL");
  });
  await expect.poll(() => events.length, { timeout: 30_000 }).toBeGreaterThan(0);
  expect(new Set(events.map(({ id }) => id)).size).toBe(1);
  expect(events[0]?.type).toContain("held");
  expect((await second.stop()).code).toBe(0);
});
