// Two HTTP servers of one gate on a real Kafka.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { makeDirectory } from "../../support/open-gate.ts";
import { type ClusterKit, createClusterKit } from "../../support/processes/cluster-kit.ts";
import { makeToken, type Requests, requestsTo } from "../../support/serve/requests-to.ts";
import { type StartedServer, startServer } from "../../support/serve/start-server.ts";

const kafka = await kafkaBackend();

const POLICY = `
tool_schemas: { send_email: { effects: [{ resource: "mail/{to}", kind: send }] } }
`;
const PARTITIONS = 3;
const WORKER = { worker: "w", tools: ["send_email"], max: 4, wait: 5 };
const CALLS = 12;

type Serving = { readonly server: StartedServer; readonly requests: Requests };

async function serve({ config }: ClusterKit, policy: string): Promise<Serving> {
  const directory = makeDirectory();
  writeFileSync(join(directory, "policy.yaml"), policy);
  const tokens = join(directory, "access");
  mkdirSync(tokens);
  const settings = { policy: { files: ["policy.yaml"] }, serve: { directory: "access" } };
  writeFileSync(join(directory, "callgate.json"), JSON.stringify({ ...config, ...settings }));
  const server = await startServer(["--config", "callgate.json"], { cwd: directory });
  onTestFinished(async () => {
    await server.stop("SIGKILL");
  });
  expect(server.message).toContain("asking the gate on Kafka");
  return { server, requests: requestsTo(server.url, makeToken(tokens)) };
}

type Claimed = {
  readonly executionId: string;
  readonly callId: string;
  readonly decisionId: string;
};

async function claim({ requests }: Serving, more: object = {}): Promise<readonly Claimed[]> {
  const { status, body } = await requests.post("/v1/executions", { ...WORKER, ...more });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.executions;
}

describe.skipIf(!kafka.available)("two HTTP servers of one gate", () => {
  test("hand each call to one worker, and know of each other's leases", async () => {
    const kit = await createClusterKit(kafka.brokers, { partitions: PARTITIONS });
    const gate = kit.startGate(POLICY);
    const [first, second] = await Promise.all([serve(kit, POLICY), serve(kit, POLICY)]);
    await gate.ready();
    const names = Array.from({ length: CALLS }, (_, at) => `c${at}`);
    // Both know the calls as soon as they are allowed.
    const early = [claim(first), claim(second)];
    const calls = names.map((name) => ({
      ...{ conversationId: name, callId: name, tool: "send_email", arguments: { to: name } },
    }));
    await Promise.all(calls.map((call) => first.requests.post("/v1/proposals", call)));
    const claimed = (await Promise.all(early)).map((one) => [...one]);
    while (claimed.flat().length < CALLS) {
      const more = await Promise.all([claim(first, { wait: 1 }), claim(second, { wait: 1 })]);
      for (const [at, one] of more.entries()) claimed[at]?.push(...one);
    }
    const ids = claimed.flat().map(({ callId }) => callId);
    expect(ids.toSorted()).toEqual(names.toSorted());

    // Either server may be asked about a claim of the other.
    const [renewed, returned, lost, ...rest] = claimed.flat();
    const path = (one: Claimed | undefined) => `/v1/executions/${one?.executionId}`;
    for (const { requests } of [first, second]) {
      expect((await requests.post(`${path(renewed)}/renew`, {})).status).toBe(200);
    }
    await first.requests.post(`${path(returned)}/release`, {});
    expect(await claim(second)).toMatchObject([{ callId: returned?.callId }]);
    await second.requests.post(`${path(lost)}/renew`, { leaseSeconds: 1 });
    await second.server.stop("SIGKILL");
    const ended = await first.requests.get(`/v1/results/${lost?.decisionId}?wait=60`);
    expect(ended.body.status).toBe("unknown");
    for (const one of [renewed, ...rest]) {
      const report = { status: "succeeded", output: "sent" };
      expect(await first.requests.post(`${path(one)}/result`, report)).toEqual({
        status: 200,
        body: { recorded: true, status: "succeeded" },
      });
    }

    // The feed of all partitions goes on exactly after any id.
    const all = await first.requests.follow("?from=start&type=allowed", CALLS);
    expect(all.map(({ data }) => data.callId).toSorted()).toEqual(names.toSorted());
    const half = CALLS / 2;
    const later = await first.requests.follow("?type=allowed", half, all[half - 1]?.id);
    expect(later.map(({ data }) => data.callId).toSorted()).toEqual(
      all
        .slice(half)
        .map(({ data }) => data.callId)
        .toSorted(),
    );
    const again = { ...calls[0], callId: "again", state: "present" };
    const simulated = await first.requests.post("/v1/simulate", again);
    expect(simulated).toMatchObject({ status: 200, body: { hasState: true } });
    const { body } = await first.requests.get("/v1/conversations?limit=500");
    expect(body.conversations).toHaveLength(CALLS);
  });
});
