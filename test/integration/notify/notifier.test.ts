// Webhooks of a real gate, to a receiver on this machine.
import { describe, expect, test } from "vitest";
import { DeliveryStore } from "../../../services/adapters/lmdb/delivery-store.ts";
import type { Callgate } from "../../../services/library/callgate.ts";
import type { Notifier } from "../../../services/notify/notifier.ts";
import { RETRY_DELAYS_MS } from "../../../services/notify/retry-schedule.ts";
import { openLog } from "../../../services/process/directory/open-log.ts";
import type { Alert } from "../../../services/wire/output-records.ts";
import { NotifyKit, targetOf } from "../../support/notify-kit.ts";
import { makeDirectory, openGate } from "../../support/open-gate.ts";
import { until } from "../../support/runtime-kit.ts";
import { signatureOf, WEBHOOK_SECRET, WebhookReceiver } from "../../support/webhook-receiver.ts";

const NEXT_SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYob7oRsd";

async function start() {
  const dataDir = makeDirectory();
  const gate = await openGate({ dataDir });
  const receiver = await WebhookReceiver.start();
  return { dataDir, gate, receiver, kit: new NotifyKit(dataDir) };
}

async function hold(gate: Callgate, callId: string): Promise<string> {
  const call = { conversationId: "c", tool: "delete_order", callId, arguments: { callId } };
  const { approvalId } = await gate.propose(call);
  return approvalId ?? expect.unreachable("the call is not held");
}

const countsOf = (notifier: Notifier) =>
  notifier.status().targets.map(({ pending, dead }) => [pending, dead]);

describe("a notifier", () => {
  test("delivers how a hold begins and ends, signed with every secret", async () => {
    const { gate, receiver, kit } = await start();
    const target = targetOf(receiver, {
      secret: [NEXT_SECRET, WEBHOOK_SECRET],
      headers: { authorization: "Bearer x" },
    });
    const notifier = await kit.start([target]);
    const approvalId = await hold(gate, "1");
    await gate.approve(approvalId, { by: "ann" });
    await gate.deny(await hold(gate, "2"), { by: "ann", reason: "no" });
    await gate.endConversation({ conversationId: "c" }, { by: "ann" });
    await until(() => receiver.requests.length === 5);

    expect(receiver.types.toSorted()).toEqual([
      ...["callgate.call.approved", "callgate.call.denied", "callgate.call.held"],
      ...["callgate.call.held", "callgate.conversation.ended"],
    ]);
    expect(new Set(receiver.ids).size).toBe(5);
    for (const request of receiver.requests) {
      const { headers, body } = request;
      expect(headers["content-type"]).toBe("application/cloudevents+json; charset=utf-8");
      expect(headers["authorization"]).toBe("Bearer x");
      expect(headers["webhook-signature"]).toBe(
        `${signatureOf(request, NEXT_SECRET)} ${signatureOf(request, WEBHOOK_SECRET)}`,
      );
      expect(Number(headers["webhook-timestamp"])).toBe(kit.nowMs / 1_000);
      expect(JSON.parse(body).id).toBe(headers["webhook-id"]);
    }
    await until(() => countsOf(notifier).join() === "0,0");
    expect([kit.failures, kit.lines]).toEqual([[], []]);
  });

  test("sends each target what it asks for, in its form", async () => {
    const { gate, receiver, kit } = await start();
    const chat = { id: "chat", form: "slack", events: ["denied"], secret: undefined };
    await kit.start([
      targetOf(receiver, { events: ["held"] }),
      targetOf(receiver, { ...chat, url: `http://127.0.0.1:${receiver.port}/chat` }),
    ]);
    await gate.deny(await hold(gate, "1"), { by: "ann" });
    await until(() => receiver.requests.length === 2);

    const byPath = new Map(receiver.requests.map((one) => [one.path, one]));
    expect(JSON.parse(byPath.get("/hook")?.body ?? "").type).toBe("callgate.call.held");
    expect(JSON.parse(byPath.get("/chat")?.body ?? "").text).toMatch(/^A held call was denied/);
    expect(byPath.get("/chat")?.headers["webhook-signature"]).toBeUndefined();
  });

  test("hears alerts, if a target asks for them", async () => {
    const { dataDir, receiver, kit } = await start();
    await kit.start([targetOf(receiver, { events: ["alert"] })]);
    const { log, codec, close } = openLog(dataDir);
    const alert: Alert = {
      ...{ alertId: "a", kind: "loop", severity: "critical", tenantId: "default" },
      ...{ conversationId: "c", agentId: null, tool: null, reason: null, decisionId: null },
      ...{ message: "a loop", value: 1, threshold: 1, windowMs: 1, count: 1, atMs: 1 },
      resolvedAtMs: null,
    };
    const values = [alert, { ...alert, resolvedAtMs: 2 }].map((one) => codec.encodeAlert(one));
    await log.append(
      [Buffer.from("no alert"), ...values].map((value) => {
        return { topic: "alerts", partition: 0, key: null, value };
      }),
    );
    await close();
    await until(() => receiver.requests.length === 2);
    expect(receiver.types.toSorted()).toEqual(["callgate.alert.raised", "callgate.alert.resolved"]);
    expect(kit.lines.map(({ message }) => message)).toEqual([
      "a record cannot be read, and nobody hears of it",
    ]);
  });

  test("begins at the end of the log, and goes on where it was", async () => {
    const { gate, receiver, kit } = await start();
    await hold(gate, "1");
    const first = await kit.start([targetOf(receiver)], { from: "end" });
    const second = await hold(gate, "2");
    await until(() => receiver.requests.length === 1);
    await first.close();
    const third = await hold(gate, "3");
    await kit.start([targetOf(receiver)], { from: "start" });
    await until(() => receiver.requests.length === 2);
    expect(receiver.ids).toEqual([`held-${second}`, `held-${third}`]);
  });
});

describe("a delivery that fails", () => {
  test("is tried ten times, each later than the one before, and then listed", async () => {
    const { gate, receiver, kit } = await start();
    receiver.answer = (response) => void response.writeHead(500).end();
    const notifier = await kit.start([targetOf(receiver)]);
    const approvalId = await hold(gate, "1");
    for (const [at, delayMs] of RETRY_DELAYS_MS.entries()) {
      await until(() => receiver.requests.length === at + 1 && kit.lines.length === at + 1);
      kit.nowMs += delayMs - 1;
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(receiver.requests).toHaveLength(at + 1);
      kit.nowMs += 1;
    }
    await until(() => countsOf(notifier).join() === "0,1");
    expect(new Set(receiver.ids)).toEqual(new Set([`held-${approvalId}`]));
    expect(receiver.requests).toHaveLength(10);
    const bodies = new Set(receiver.requests.map(({ body }) => body));
    const stamps = new Set(receiver.requests.map(({ headers }) => headers["webhook-timestamp"]));
    expect([bodies.size, stamps.size]).toEqual([1, 10]);
    expect(kit.lines.at(-1)).toMatchObject({
      ...{ level: "error", message: "a webhook was given up: callgate notify failed lists it" },
      fields: { target: "ops", tries: 10, problem: "the receiver answered 500" },
    });
    expect(notifier.status().targets[0]?.problem).toBe("the receiver answered 500");
  });

  test("is given up at once where the receiver is gone, and waits as long as it asks", async () => {
    const { gate, receiver, kit } = await start();
    receiver.answer = (response) => void response.writeHead(429, { "retry-after": "100" }).end();
    const notifier = await kit.start([targetOf(receiver)]);
    await hold(gate, "1");
    await until(() => kit.lines.length === 1);
    expect(kit.lines[0]?.fields["inMs"]).toBe(100_000);
    receiver.answer = (response) => void response.writeHead(410).end();
    kit.nowMs += 100_000;
    await until(() => countsOf(notifier).join() === "0,1");
  });

  test("delays no other target", async () => {
    const { gate, receiver, kit } = await start();
    const stuck = await WebhookReceiver.start();
    stuck.answer = () => undefined;
    const notifier = await kit.start([targetOf(stuck, { id: "stuck" }), targetOf(receiver)]);
    for (let at = 0; at < 20; at += 1) await hold(gate, String(at));
    await until(() => receiver.requests.length === 20);
    expect(stuck.requests.length).toBeLessThanOrEqual(4);
    expect(countsOf(notifier)[0]).toEqual([20, 0]);
  });

  test("survives a restart, with its tries", async () => {
    const { gate, receiver, kit } = await start();
    receiver.answer = (response) => void response.writeHead(503).end();
    const first = await kit.start([targetOf(receiver)]);
    await hold(gate, "1");
    await until(() => kit.lines.length === 1);
    await first.close();
    receiver.answer = (response) => void response.end();
    const second = await kit.start([targetOf(receiver)]);
    expect(countsOf(second)).toEqual([[1, 0]]);
    kit.nowMs += RETRY_DELAYS_MS[0] ?? 0;
    await until(() => countsOf(second).join() === "0,0");
    expect(receiver.requests).toHaveLength(2);
  });

  test("of a target that is no longer configured is listed", async () => {
    const { gate, receiver, kit } = await start();
    receiver.answer = (response) => void response.writeHead(503).end();
    const first = await kit.start([targetOf(receiver)]);
    await hold(gate, "1");
    await until(() => kit.lines.length === 1);
    await first.close();
    const second = await kit.start([targetOf(receiver, { id: "other" })]);
    expect(kit.lines.at(-1)).toMatchObject({
      message: "gave deliveries up, whose targets are no longer configured",
      fields: { deliveries: 1 },
    });
    await second.close();
    const third = await kit.start([targetOf(receiver)]);
    expect(countsOf(third)).toEqual([[0, 1]]);
  });
});

describe("the directory of a notifier", () => {
  test("belongs to one process and to one log", async () => {
    const { receiver, kit } = await start();
    const notifier = await kit.start([targetOf(receiver)]);
    await expect(kit.start([targetOf(receiver)])).rejects.toMatchObject({ code: "role_taken" });
    await notifier.close();
    const other = await start();
    const foreign = other.kit.start([targetOf(receiver)], { directory: kit.directory });
    await expect(foreign).rejects.toMatchObject({ code: "log_mismatch" });
    await kit.start([targetOf(receiver)]);
  });
});

test("a log that was set back is read from its end on", async () => {
  const { dataDir, gate, receiver, kit } = await start();
  const store = new DeliveryStore(kit.directory);
  const { log, close } = openLog(dataDir);
  store.bind({ clusterId: log.clusterId, topicId: log.topicId("decisions") });
  store.commit([{ topic: "decisions", partition: 0, offset: 1_000 }], [], 0);
  await store.close();
  await close();
  await hold(gate, "1");
  await kit.start([targetOf(receiver)]);
  const second = await hold(gate, "2");
  await until(() => receiver.requests.length === 1);
  expect(receiver.ids).toEqual([`held-${second}`]);
  expect(kit.lines.map(({ message }) => message)).toEqual([
    "the log was set back to before what was read: reading begins at its end",
  ]);
});

test("a target at an address that is refused does not start", async () => {
  const { receiver, kit } = await start();
  const target = targetOf(receiver, { url: "https://169.254.169.254/latest", allowPrivate: false });
  await expect(kit.start([target])).rejects.toThrow(
    "notify.targets.0.url: 169.254.169.254 is no public address (linkLocal)",
  );
});

test("neither log nor metrics show secrets or the address", async () => {
  const { gate, receiver, kit } = await start();
  receiver.answer = (response) => void response.writeHead(500, { "x-echo": "echo" }).end("echoed");
  const headers = { authorization: "Bearer hidden-token" };
  const url = `${receiver.url}/hidden-path`;
  const { metrics } = kit;
  const notifier = await kit.start([targetOf(receiver, { url, headers })], { metrics });
  await hold(gate, "1");
  await until(() => kit.lines.length > 0);
  const shown = `${JSON.stringify(kit.lines)}${await metrics.text()}${JSON.stringify(notifier.status())}`;
  expect(shown).toContain('callgate_notify_failed_total{target="ops",service="test"} 1');
  expect(shown).toContain('callgate_notify_pending{target="ops",service="test"} 1');
  expect(shown).not.toMatch(/hidden|echoed|whsec_|127\.0\.0\.1/);
  expect(shown).not.toContain(WEBHOOK_SECRET.slice(6));
});
