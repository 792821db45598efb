// `callgate serve` as a user runs it.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { ensureBuilt } from "../../../tasks/ensure-built.js";
import { runCallgate } from "../../support/run-callgate.ts";
import { POLICY } from "../../support/serve/serve-kit.ts";
import { type StartedServer, startServer } from "../../support/serve/start-server.ts";

let directory = "";

beforeAll(async () => {
  await ensureBuilt();
  directory = mkdtempSync(join(tmpdir(), "callgate-serve-"));
  writeFileSync(join(directory, "policy.yaml"), POLICY);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function start(...args: readonly string[]): Promise<StartedServer> {
  const server = await startServer(["--policy", "policy.yaml", ...args], { cwd: directory });
  onTestFinished(async () => {
    await server.stop("SIGKILL");
  });
  return server;
}

async function post(url: string, path: string, body: object, token?: string) {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const headers = { "content-type": "application/json", ...authorization };
  const answer = await fetch(`${url}${path}`, {
    ...{ method: "POST", headers, body: JSON.stringify(body) },
  });
  return { status: answer.status, body: JSON.parse(await answer.text()) };
}

const CALL = {
  conversationId: "c",
  callId: "a",
  tool: "charge_card",
  arguments: { order_id: "7" },
};

test("starts, says who may use it, decides, stops in order, and remembers", async () => {
  const server = await start("--data-dir", "data");
  expect(server.message).toContain("deciding in data");
  const file = join(directory, "data", "admin-token");
  expect(server.message).toContain(join("data", "admin-token"));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const first = await post(server.url, "/v1/proposals", CALL);
  expect(first).toMatchObject({ status: 200, body: { outcome: "allowed", repeated: false } });
  const held = { ...CALL, callId: "h", tool: "delete_file" };
  const waiting = post(server.url, "/v1/proposals", held);
  const { approvalId } = (await waiting).body;
  const path = `/v1/approvals/${approvalId}/approve`;
  const admin = readFileSync(file, "utf8").trim();
  expect((await post(server.url, path, {}, admin)).body.outcome).toBe("allowed");
  const end = await server.stop();
  expect(end).toMatchObject({ code: 0, signal: null });
  const next = await start("--data-dir", "data");
  const again = await post(next.url, "/v1/proposals", CALL);
  expect(again.body).toEqual({ ...first.body, repeated: true });
  expect((await next.stop()).code).toBe(0);
});

test("a token that the command line makes is known at once, and refused when it is withdrawn", async () => {
  const server = await start("--data-dir", "tokens");
  const location = ["--data-dir", join(directory, "tokens")];
  const made = await runCallgate([
    "token",
    "create",
    "--name",
    "bob",
    "--role",
    "propose",
    ...location,
  ]);
  expect(made).toMatchObject({ code: 0, stderr: "" });
  const token = made.stdout.trim();
  expect((await post(server.url, "/v1/proposals", CALL, token)).status).toBe(200);
  const listed = await runCallgate(["token", "list", ...location]);
  expect(listed.stdout).toMatch(/^[0-9a-f]{16} {2}bob; propose; tenant default; does not expire$/m);
  expect(listed.stdout).not.toContain(token.slice(-20));
  const id = token.slice(3, 19);
  expect((await runCallgate(["token", "revoke", id, ...location])).code).toBe(0);
  await expect
    .poll(async () => (await post(server.url, "/v1/proposals", CALL, token)).status)
    .toBe(401);
});

test("an agent's token with the right to answer held calls is not made", async () => {
  const args = ["--name", "x", "--role", "approve", "--agent", "planner", "--data-dir", directory];
  const made = await runCallgate(["token", "create", ...args]);
  expect(made.code).toBe(2);
  expect(made.stderr).toContain("an agent must not answer held calls; make two tokens");
});

test("a request that waits is answered when the server ends", async () => {
  const server = await start("--data-dir", "waiting");
  const held = { ...CALL, tool: "delete_file" };
  const { decisionId } = (await post(server.url, "/v1/proposals", held)).body;
  const waiting = fetch(`${server.url}/v1/decisions/${decisionId}?wait=300`);
  await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200);
  const [answer, end] = await Promise.all([waiting, server.stop()]);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ outcome: "held" });
  expect(end.code).toBe(0);
});

test.each([
  [["--listen", "8181"], 2, "write host and port, as 127.0.0.1:8181"],
  [[], 2, "name a policy with --policy"],
] as const)("options that do not work: %s", async (args, code, text) => {
  const run = await runCallgate(["serve", ...args], { cwd: tmpdir() });
  expect(run.code).toBe(code);
  expect(run.stderr).toContain(text);
});

async function listening(): Promise<{ readonly other: Server; readonly port: number }> {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  return { other, port: (other.address() as AddressInfo).port };
}

async function freePort(): Promise<number> {
  const { other, port } = await listening();
  await new Promise((resolve) => other.close(resolve));
  return port;
}

test("an address in use", async () => {
  const { other, port } = await listening();
  onTestFinished(() => void other.close());
  const args = ["--policy", "policy.yaml", "--data-dir", "used", "--listen", `127.0.0.1:${port}`];
  const run = await runCallgate(["serve", ...args], { cwd: directory });
  expect(run.code).toBe(3);
  expect(run.stderr).toMatch(/cannot listen on .*EADDRINUSE.*choose another with --listen/);
});

test("the three commands of the README: a call that is allowed, and its repeat that is not", async () => {
  const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
  const block = /<!-- example: http -->\n\n```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  const policy = /## A first policy\n\n```yaml\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  expect(block).toContain("callgate serve");
  const home = join(directory, "readme");
  mkdirSync(home);
  writeFileSync(join(home, "policy.yaml"), policy);
  const launcher = new URL("../../../bin/callgate.js", import.meta.url).pathname;
  const port = await freePort();
  const commands = block
    .replace("npx callgate", `node ${launcher}`)
    .replace("--policy policy.yaml", `--policy policy.yaml --listen 127.0.0.1:${port}`)
    .replaceAll("127.0.0.1:8181", `127.0.0.1:${port}`);
  const script = `${commands}\nkill $!; wait $!`;
  const run = spawnSync("bash", ["-c", script], { cwd: home, encoding: "utf8" });
  expect(run.status, run.stderr).toBe(0);
  expect(run.stdout).toContain('"outcome":"allowed"');
  expect(run.stdout).toContain('"reason":"duplicate_in_flight"');
});
