// The rights that docs/access-control.md grants, read from that page: with them each process works, and
// without one of them the process that needs it reports it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Admin } from "kafkajs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { LocalKafka } from "../../../infra/local/start-kafka.js";
import { topicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import { AlertOutbox } from "../../../services/analytics/alert-outbox.ts";
import type { RaisedAlert } from "../../../services/analytics/fold.ts";
import { type Callgate, connectCallgate } from "../../../services/library/callgate.ts";
import type { Topic } from "../../../services/runtime/topics.ts";

import { localParts } from "../../support/backends/local-parts.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import {
  documentedGrants,
  loginOf,
  type Principal,
  startAuthorizedKafka,
} from "../../support/kafka/authorized-kafka.ts";
import { connectKafka, createTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import { JOURNAL_RETENTION, testCodec } from "../../support/kafka/test-gate.ts";
import { type RunningProcess, startProcess } from "../../support/processes/running-process.ts";
import { runCallgate } from "../../support/run-callgate.ts";
import { WEBHOOK_SECRET, WebhookReceiver } from "../../support/webhook-receiver.ts";

const parts = localParts(["kafka"]);
const START_MS = 110_000;
const WORK_MS = 100_000;
const MESSAGE_WITHIN_MS = 40_000;
const names = topicNames("toolcalls");

const FILES = {
  "policy.yaml": `
authorization:
  tiers:
    - { name: removals, pattern: "remove_*", action: hitl, expires_ms: 60000 }
    - { name: quick, pattern: "drop_*", action: hitl, expires_ms: 1000 }
tool_schemas:
  look: { read_only: true }
  remove_item: { effects: [{ resource: "item/{item}", kind: delete }] }
`,
  "handlers.mjs": `
export const look = () => "seen";
export const remove_item = () => "removed";
`,
};

const COMMANDS = {
  gate: ["gate"],
  executor: ["executor", "--handlers", "handlers.mjs"],
  analytics: ["analytics", "run"],
  notify: ["notify", "run"],
} as const;

const TOPIC = /no right to use the topic: grant READ, WRITE and DESCRIBE/;
/** A principal that may write no topic at all is refused before a topic is named. */
const NO_TOPIC = /no right on the cluster: grant WRITE of the topics that it writes/;
const GROUP = /no right to use the consumer group: grant READ/;
const TRANSACTIONS = /no right to use the transactional id: grant WRITE and DESCRIBE/;

const RAISED: RaisedAlert = {
  partition: 0,
  alert: {
    ...{ alertId: "calls_spike:calls:default/c:1", severity: "warning", kind: "calls_spike" },
    ...{ tenantId: "default", conversationId: "c", agentId: null },
    ...{ tool: null, reason: null, decisionId: null, windowMs: null, count: 1 },
    ...{ value: 100, threshold: 10, message: "many", atMs: 2, resolvedAtMs: null },
  },
};

type Service = keyof typeof COMMANDS;

describe.skipIf(!parts.available)(`a broker with the rights of the page ${parts.reason}`, () => {
  const grants = parts.available ? documentedGrants() : [];
  let kafka: LocalKafka;
  let admin: Admin;

  beforeAll(async () => {
    kafka = await startAuthorizedKafka();
    const topics = Object.values(names);
    await createTopics(kafka.directBootstrap, topics, { config: JOURNAL_RETENTION, partitions: 1 });
    admin = connectKafka(kafka.directBootstrap).admin();
    await admin.connect();
    await admin.createAcls({ acl: grants.flatMap(({ entries }) => [...entries]) });
  }, START_MS);
  afterAll(async () => {
    await admin.disconnect();
    await kafka.stop();
  });

  let receiver: WebhookReceiver | undefined;
  const targets = () => {
    const url = receiver?.url ?? "http://127.0.0.1:9/";
    return [{ id: "ops", url, allowPrivate: true, secret: WEBHOOK_SECRET }];
  };
  const clientOf = (who: Principal) => ({
    ...{ brokers: kafka.bootstrap, sasl: loginOf(who), sessionTimeoutMs: 2_000 },
  });
  const start = (who: Service): RunningProcess =>
    startProcess(
      COMMANDS[who],
      {
        ...{ kafka: clientOf(who), http: { port: 0 } },
        secret: { value: "a secret that is long enough" },
        analytics: { directory: "numbers" },
        notify: { directory: "webhooks", targets: targets() },
        ...(who === "gate" ? { policy: { files: ["policy.yaml"] } } : {}),
      },
      FILES,
    );
  const connect = async (): Promise<Callgate> => {
    const { brokers, sasl } = clientOf("agent");
    const agent = await connectCallgate({ kafka: { brokers, sasl }, timeoutMs: 20_000 });
    onTestFinished(() => agent.close());
    return agent;
  };
  const approvals = (words: readonly string[], directory: string) => {
    const file = join(directory, "approver.json");
    writeFileSync(file, JSON.stringify({ kafka: clientOf("approver") }));
    return runCallgate(["approvals", ...words, "--config", file]);
  };
  /** Revokes what these commands of the page grant; the returned function grants it again. */
  const withhold = async (text: string): Promise<() => Promise<void>> => {
    const withheld = grants.filter((grant) => grant.text.includes(text));
    const acl = withheld.flatMap(({ entries }) => [...entries]);
    expect(acl, `the page grants no ${text}`).not.toHaveLength(0);
    await admin.deleteAcls({ filters: acl });
    const grant = async () => void (await admin.createAcls({ acl }));
    onTestFinished(grant);
    return grant;
  };

  /** Writes into a topic as a principal with all rights. */
  const send = async (topic: string, value: string): Promise<void> => {
    const producer = connectKafka(kafka.directBootstrap).producer();
    await producer.connect();
    await producer.send({ topic, messages: [{ key: "default/w", value }] });
    await producer.disconnect();
  };

  it(
    "lets gate, executor, agent, approver, analytics and notify work",
    async () => {
      receiver = await WebhookReceiver.start();
      const services = (["gate", "executor", "analytics", "notify"] as const).map(start);
      const [gate, , analytics] = services;
      await Promise.all(services.map((service) => service.ready()));
      const agent = await connect();
      const call = { conversationId: "c", tool: "look", arguments: {} };

      const seen = await agent.propose({ ...call, callId: "1" });
      expect(await agent.awaitResult(seen.decisionId ?? "")).toMatchObject({ output: "seen" });
      const unknown = await agent.propose({ ...call, callId: "2", tool: "nothing" });
      expect(unknown.outcome).toBe("refused");
      const removal = { ...call, callId: "3", tool: "remove_item", arguments: { item: 1 } };
      const held = await agent.propose(removal);
      expect(held.outcome).toBe("held");
      const approval = () => approvals(["approve", held.approvalId ?? ""], gate?.directory ?? "");
      const grant = await withhold("User:approver --operation Write --topic toolcalls.verdicts.v1");
      const { code, stderr } = await approval();
      expect(code).toBe(3);
      expect(stderr).toMatch(NO_TOPIC);
      expect(stderr).not.toContain("unexpected");
      await grant();
      await expect.poll(async () => (await approval()).stderr, { timeout: 20_000 }).toBe("");
      expect(await agent.awaitResult(held.decisionId ?? "")).toMatchObject({ output: "removed" });

      await send(names.proposals, "{");
      const letters = () => admin.fetchTopicOffsets(names.deadLetters);
      await expect.poll(async () => (await letters())[0]?.high, { timeout: 20_000 }).not.toBe("0");
      const counted = async () => (await analytics?.get("/metrics"))?.text();
      await expect.poll(counted, { timeout: 20_000 }).toContain('outcome="held"');
      const ids = [`held-${held.approvalId}`, `approved-${held.approvalId}`];
      await expect
        .poll(() => receiver?.ids.toSorted(), { timeout: 20_000 })
        .toEqual(ids.toSorted());

      for (const { child } of services) child.kill("SIGTERM");
      for (const { ended, lines } of services) {
        expect((await ended).code).toBe(0);
        expect(lines.filter(({ level }) => level === "error")).toEqual([]);
      }
    },
    WORK_MS,
  );

  it(
    "lets the approver see verdicts while no gate runs, and reports the right that this needs",
    async () => {
      const gate = start("gate");
      await gate.ready();
      const agent = await connect();
      const removal = { conversationId: "w", tool: "remove_item", arguments: { item: 2 } };
      const { approvalId = "" } = await agent.propose({ ...removal, callId: "1" });
      gate.child.kill("SIGTERM");
      await gate.ended;
      const said = await approvals(["approve", approvalId, "--by", "ann"], gate.directory);
      const listed = () => approvals(["list"], gate.directory);
      const { stdout } = await listed();
      await withhold("User:approver --operation Read --topic toolcalls.verdicts.v1");

      expect(said.stdout).toContain("approve is recorded");
      expect(stdout).toMatch(new RegExp(`^${approvalId} .*approve by ann$`, "m"));
      await expect.poll(async () => (await listed()).stderr, { timeout: 20_000 }).toMatch(TOPIC);
    },
    WORK_MS,
  );

  const withoutRight: readonly (readonly [Service, string, RegExp])[] = [
    ["gate", "User:gate --operation Describe --operation DescribeConfigs", TOPIC],
    ["gate", "User:gate --operation Read --topic toolcalls.proposed.v1", TOPIC],
    ["gate", "User:gate --operation Read --topic toolcalls.results.v1", TOPIC],
    ["gate", "User:gate --operation Read --topic toolcalls.verdicts.v1", TOPIC],
    ["gate", "User:gate --operation Read --topic toolcalls.decisions.v1", TOPIC],
    ["gate", "User:gate --operation Read --operation Describe --group", GROUP],
    ["gate", "User:gate --operation Write --operation Describe --transactional-id", TRANSACTIONS],
    ["executor", "User:executor --operation Read --topic toolcalls.allowed.v1", TOPIC],
    ["executor", "User:executor --operation Write --topic toolcalls.results.v1", NO_TOPIC],
    ["executor", "User:executor --operation Write --operation Describe", TRANSACTIONS],
    ["executor", "User:executor --operation Read --operation Describe --group", GROUP],
    ["analytics", "User:analytics --operation Read --topic toolcalls.decisions.v1", TOPIC],
    ["notify", "User:notify --operation Read --topic toolcalls.decisions.v1", TOPIC],
    ["notify", "User:notify --operation Read --topic toolcalls.alerts.v1", TOPIC],
  ];

  /** Waits until the process has reported why it does not work. */
  const expectMessage = async (service: RunningProcess, message: RegExp): Promise<void> => {
    const said = async () => {
      const ready = await service.get("/readyz").then(
        async (response) => `${response.status} ${await response.text()}`,
        () => "gone",
      );
      return `${ready} ${service.stderr} ${JSON.stringify(service.lines)}`;
    };
    await expect.poll(said, { timeout: MESSAGE_WITHIN_MS }).toMatch(message);
    expect(await said()).not.toMatch(/^200/);
  };

  it.each(withoutRight)(
    "stops a process (%s) without `%s`, with a message that says so",
    async (who, withheld, message) => {
      await withhold(withheld);
      await expectMessage(start(who), message);
    },
    WORK_MS,
  );

  it(
    "an executor without the right to read results reports it when it must know which calls ran",
    async () => {
      await send(names.results, "{");
      await withhold(`User:executor --operation Read --topic ${names.results}`);
      await expectMessage(start("executor"), TOPIC);
    },
    WORK_MS,
  );

  const proposal = (tool: string) => {
    const about = { tenantId: "default", conversationId: "w", turn: "1", step: "1" };
    return JSON.stringify({ ...about, callId: uniqueName("call"), tool, arguments: "{}" });
  };
  const withoutWrite: readonly (readonly [Topic, string])[] = [
    ["decisions", proposal("look")],
    ["allowed", proposal("look")],
    ["refused", proposal("nothing")],
    ["held", proposal("remove_other")],
    ["deadLetters", "{"],
    // A held call without a verdict expires by a tick.
    ["verdicts", proposal("drop_item")],
  ];

  it.each(withoutWrite)(
    "a gate without the right to write %s reports it at its first write",
    async (topic, value) => {
      await withhold(`User:gate --operation Write --topic ${names[topic]}`);
      await send(names.proposals, value);
      await expectMessage(start("gate"), TOPIC);
    },
    WORK_MS,
  );

  it.each(["allowed", "refused", "held", "deadLetters"] as const)(
    "a gate without the right to read %s reports it where a transaction was left open",
    async (topic) => {
      await withhold(`User:gate --operation Read --topic ${names[topic]}`);
      const producer = connectKafka(kafka.directBootstrap).producer({
        ...{ transactionalId: uniqueName("open"), idempotent: true, maxInFlightRequests: 1 },
      });
      await producer.connect();
      const transaction = await producer.transaction();
      onTestFinished(async () => {
        await transaction.abort();
        await producer.disconnect();
      });
      await transaction.send({ topic: names[topic], messages: [{ key: "k", value: "v" }] });
      await expectMessage(start("gate"), TOPIC);
    },
    WORK_MS,
  );

  it(
    "lets analytics raise alerts, and reports the missing right to their topic",
    async () => {
      const settings = { sasl: loginOf("analytics") };
      const openOutbox = async (...alerts: readonly RaisedAlert[]) => {
        const log = await openTestLog(kafka.bootstrap, names, { settings });
        onTestFinished(() => log.close());
        return new AlertOutbox(log, testCodec, alerts, [[0, 0]]);
      };
      const publish = async (outbox: AlertOutbox) => {
        await outbox.prepare();
        outbox.data();
        return await outbox.publish();
      };
      const grantWrite = await withhold(`User:analytics --operation Write --topic ${names.alerts}`);
      const outbox = await openOutbox();
      outbox.add(RAISED);
      await expect(publish(outbox)).rejects.toThrow(NO_TOPIC);
      await grantWrite();
      await expect.poll(() => publish(outbox).catch(String), { timeout: 20_000 }).toBe(true);

      // As after a crash, the topic is read to find out whether it has the alert.
      const again = await openOutbox(RAISED);
      expect(await publish(again)).toBe(false);
      await withhold(`User:analytics --operation Read --topic ${names.alerts}`);
      const late = await openOutbox(RAISED);
      await expect.poll(() => publish(late).catch(String), { timeout: 20_000 }).toMatch(TOPIC);
    },
    WORK_MS,
  );

  it.each(["Write --topic toolcalls.proposed.v1", "Read --topic toolcalls.decisions.v1"])(
    "an agent without `%s` gets an error that says so",
    async (withheld) => {
      await withhold(`User:agent --operation ${withheld}`);
      const call = { conversationId: "d", callId: "1", tool: "look", arguments: {} };
      const said = async () => {
        const agent = await connect();
        return await agent.propose(call).then(JSON.stringify, String);
      };
      const message = /no right (to use the topic|on the cluster)/;
      await expect
        .poll(async () => said().catch(String), { timeout: MESSAGE_WITHIN_MS })
        .toMatch(message);
    },
    WORK_MS,
  );
});
