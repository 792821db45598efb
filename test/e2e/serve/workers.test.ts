// Workers and followers of a real `callgate serve`.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { ensureBuilt } from "../../../tasks/ensure-built.js";
import { makeToken, type Requests, requestsTo } from "../../support/serve/requests-to.ts";
import { type StartedServer, startServer } from "../../support/serve/start-server.ts";

const POLICY = `
tool_schemas:
  get_order: { read_only: true, reads: ["order/{id}"] }
  send_email: { effects: [{ resource: "mail/{to}", kind: send }] }
`;

let directory = "";

beforeAll(async () => {
  await ensureBuilt();
  directory = mkdtempSync(join(tmpdir(), "callgate-workers-"));
  writeFileSync(join(directory, "policy.yaml"), POLICY);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

type Serving = {
  readonly server: StartedServer;
  readonly requests: Requests;
  readonly token: string;
};

async function start(dataDir: string): Promise<Serving> {
  const server = await startServer(["--policy", "policy.yaml", "--data-dir", dataDir], {
    cwd: directory,
  });
  onTestFinished(async () => {
    await server.stop("SIGKILL");
  });
  const token = makeToken(join(directory, dataDir));
  return { server, token, requests: requestsTo(server.url, token) };
}

async function propose(requests: Requests, callId: string, more: object = {}): Promise<string> {
  const call = { conversationId: callId, callId, tool: "send_email", arguments: { to: callId } };
  const { body } = await requests.post("/v1/proposals", { ...call, ...more });
  expect(body.outcome).toBe("allowed");
  return body.decisionId;
}

const WORKER = { worker: "w", tools: ["send_email"] };

test("calls survive a killed server: claimed ones end, the others are handed out once", async () => {
  const first = await start("killed");
  for (const callId of ["a", "b", "c", "d"]) await propose(first.requests, callId);
  const claimed = await first.requests.post("/v1/executions", { ...WORKER, max: 2 });
  const held: { executionId: string; callId: string; decisionId: string }[] =
    claimed.body.executions;
  expect(held).toHaveLength(2);
  await first.server.stop("SIGKILL");

  const { requests } = await start("killed");
  const [survivor, lost] = held;
  const renewed = await requests.post(`/v1/executions/${survivor?.executionId}/renew`, {});
  expect(renewed.status).toBe(200);
  const shortened = { leaseSeconds: 1 };
  await requests.post(`/v1/executions/${lost?.executionId}/renew`, shortened);
  const rest = await requests.post("/v1/executions", { ...WORKER, max: 10, wait: 5 });
  const ids = rest.body.executions.map(({ callId }: { callId: string }) => callId);
  expect([...ids, survivor?.callId, lost?.callId].toSorted()).toEqual(["a", "b", "c", "d"]);
  const done = { status: "succeeded", output: "sent" };
  const reported = await requests.post(`/v1/executions/${survivor?.executionId}/result`, done);
  expect(reported).toEqual({ status: 200, body: { recorded: true, status: "succeeded" } });
  const ended = await requests.get(`/v1/results/${lost?.decisionId}?wait=60`);
  expect(ended.body.status).toBe("unknown");
});

test("a worker that goes away while it waits leaves the call to others", async () => {
  const { requests, server, token } = await start("gone");
  const leaving = new AbortController();
  const waiting = fetch(`${server.url}/v1/executions`, {
    ...{ method: "POST", signal: leaving.signal, body: JSON.stringify({ ...WORKER, wait: 60 }) },
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
  });
  await requests.post("/v1/executions", WORKER);
  leaving.abort();
  await expect(waiting).rejects.toThrow();
  await propose(requests, "a");
  const { body } = await requests.post("/v1/executions", { ...WORKER, wait: 60 });
  expect(body.executions).toMatchObject([{ callId: "a" }]);
});

test("events are followed over a restart without gaps or repeats", async () => {
  const first = await start("events");
  const callIds = ["a", "b", "c"];
  for (const callId of callIds) await propose(first.requests, callId);
  const seen = await first.requests.follow("?from=start&type=allowed", 2);
  await first.server.stop("SIGKILL");
  const { requests } = await start("events");
  const following = requests.follow("?type=allowed", 2, seen[1]?.id);
  await propose(requests, "d");
  const all = [...seen, ...(await following)];
  expect(all.map(({ data }) => data.callId)).toEqual([...callIds, "d"]);
});

test("the end of the server ends streams and long polls", async () => {
  const { requests, server } = await start("ending");
  const following = requests.follow("", 1);
  const waiting = requests.post("/v1/executions", { ...WORKER, wait: 300 });
  await requests.post("/v1/executions", WORKER);
  await requests.follow("?from=start", 0);
  const [events, claimed, end] = await Promise.all([following, waiting, server.stop()]);
  expect(events).toEqual([]);
  expect(claimed.body).toEqual({ executions: [] });
  expect(end).toMatchObject({ code: 0, signal: null });
  expect(end.stderr).not.toContain("connections were closed");
});

const FOLLOWERS = 20;
const CALLS = 1_500;
const MEGABYTE = 1024 * 1024;

test("clients that never read the events hold no memory, and hold up nobody", async () => {
  const { requests, server, token } = await start("unread");
  const text = "x".repeat(8_000);
  const burst = (from: number) =>
    Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        propose(requests, `${from + at}`, {
          tool: "get_order",
          arguments: { id: from + at, text },
        }),
      ),
    );
  await burst(0);
  for (let at = 0; at < FOLLOWERS; at += 1) {
    const socket = connect(
      new URL(server.url).port === "" ? 80 : Number(new URL(server.url).port),
      "127.0.0.1",
    );
    onTestFinished(() => void socket.destroy());
    socket.pause();
    socket.on("error", () => undefined);
    socket.write(
      `GET /v1/events?from=start HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    );
  }
  for (let from = 100; from < 500; from += 100) await burst(from);
  const before = residentBytes(server);
  for (let from = 500; from < CALLS; from += 100) await burst(from);
  // Sent to each follower, it would be 20 times 8 MB.
  expect(residentBytes(server) - before).toBeLessThan(100 * MEGABYTE);
  expect((await requests.follow("?from=start&type=allowed", CALLS)).length).toBe(CALLS);
});

function residentBytes({ child }: StartedServer): number {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) * 1024;
}
