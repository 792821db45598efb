// Webhooks of a gate on a real Kafka.
import { describe, expect, test } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { makeDirectory } from "../../support/open-gate.ts";
import { createClusterKit } from "../../support/processes/cluster-kit.ts";
import { startProcess } from "../../support/processes/running-process.ts";
import { WEBHOOK_SECRET, WebhookReceiver } from "../../support/webhook-receiver.ts";

const kafka = await kafkaBackend();

const POLICY = `
authorization:
  tiers: [{ name: removals, pattern: "remove_*", action: hitl, expires_ms: 3600000 }]
tool_schemas: { remove_item: {} }
`;
const PARTITIONS = 2;
/** Enough that every partition has some. */
const CALLS = 6;

describe.skipIf(!kafka.available)("a notifier of a cluster that is killed", () => {
  test("delivers what was held before and while it was away", async () => {
    const kit = await createClusterKit(kafka.brokers, { partitions: PARTITIONS });
    const receiver = await WebhookReceiver.start();
    const target = { id: "ops", url: receiver.url, allowPrivate: true, secret: WEBHOOK_SECRET };
    const settings = { directory: makeDirectory(), targets: [target] };
    const startNotify = () => startProcess(["notify"], { ...kit.config, notify: settings });
    const gate = kit.startGate(POLICY);
    const first = startNotify();
    const callgate = await kit.connect();
    await Promise.all([gate.ready(), first.ready()]);
    const holdMany = async (name: string) => {
      const calls = Array.from({ length: CALLS }, (_, at) => ({
        ...{ conversationId: `${name}${at}`, callId: "1", tool: "remove_item", arguments: { at } },
      }));
      const decisions = await Promise.all(calls.map((call) => callgate.propose(call)));
      return decisions.map(({ approvalId }) => `held-${approvalId}`);
    };
    receiver.answer = (response) => void response.writeHead(503).end();
    const before = await holdMany("before");
    await expect.poll(() => new Set(receiver.ids).size).toBe(CALLS);
    first.child.kill("SIGKILL");
    await first.ended;
    const after = await holdMany("after");
    receiver.answer = (response) => void response.end();

    const second = startNotify();
    const ids = [...before, ...after].toSorted();
    await expect.poll(() => [...new Set(receiver.ids)].toSorted()).toEqual(ids);
    const metrics = async () => (await second.get("/metrics")).text();
    await expect.poll(metrics).toMatch(/notify_pending\S+ 0$/m);
    expect(await metrics()).toMatch(new RegExp(`notify_sent_total\\S+ ${2 * CALLS}$`, "m"));
    second.child.kill("SIGTERM");
    expect(await second.ended).toEqual({ code: 0, signal: null });
  });
});
