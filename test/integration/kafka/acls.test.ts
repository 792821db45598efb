// The rights that docs/operations.md grants, read from that page: with them everybody can do their work, and
// without one of them whoever needs it says what is missing.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Admin } from "kafkajs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { LocalKafka } from "../../../infra/local/start-kafka.js";
import { topicNames } from "../../../services/adapters/kafka/topic-names.ts";
import { type Callgate, connectCallgate } from "../../../services/sdk/callgate.ts";
import { localParts } from "../../support/backends/local-parts.ts";
import {
  documentedGrants,
  loginOf,
  type Principal,
  startAuthorizedKafka,
} from "../../support/kafka/authorized-kafka.ts";
import { connectKafka, createTopics } from "../../support/kafka/test-cluster.ts";
import { KEPT } from "../../support/kafka/test-gate.ts";
import { type RunningProcess, startProcess } from "../../support/processes/running-process.ts";
import { runCallgate } from "../../support/run-callgate.ts";

const parts = localParts(["kafka"]);
const START_MS = 110_000;
const WORK_MS = 100_000;
const TOLD_WITHIN_MS = 40_000;
const names = topicNames("toolcalls");

const FILES = {
  "policy.yaml": `
authorization:
  tiers:
    - { name: removals, pattern: "remove_*", action: hitl, expires_ms: 60000 }
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
} as const;

const TOPIC = /no right to use the topic: grant READ, WRITE and DESCRIBE/;
/** Who may write no topic at all is refused before a topic is named. */
const NO_TOPIC = /no right on the cluster: grant WRITE of the topics that it writes/;
const GROUP = /no right to use the consumer group: grant READ/;
const TRANSACTIONS = /no right to use the transactional id: grant WRITE and DESCRIBE/;

type Service = keyof typeof COMMANDS;

describe.skipIf(!parts.available)(`a broker that grants what the page says ${parts.reason}`, () => {
  const grants = parts.available ? documentedGrants() : [];
  let kafka: LocalKafka;
  let admin: Admin;

  beforeAll(async () => {
    // The gate's client is loaded before the one that waits for the broker.
    connectKafka(["127.0.0.1:1"]);
    kafka = await startAuthorizedKafka();
    const topics = Object.values(names);
    await createTopics(kafka.directBootstrap, topics, { config: KEPT, partitions: 1 });
    admin = connectKafka(kafka.directBootstrap).admin();
    await admin.connect();
    await admin.createAcls({ acl: grants.flatMap(({ entries }) => [...entries]) });
  }, START_MS);
  afterAll(async () => {
    await admin.disconnect();
    await kafka.stop();
  });

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
  const approve = (approvalId: string, directory: string) => {
    const file = join(directory, "approver.json");
    writeFileSync(file, JSON.stringify({ kafka: clientOf("approver") }));
    return runCallgate(["approvals", "approve", approvalId, "--config", file]);
  };
  /** As if these commands of the page had not been run; what it returns runs them, at the latest after the test. */
  const withhold = async (text: string): Promise<() => Promise<void>> => {
    const withheld = grants.filter((grant) => grant.text.includes(text));
    const acl = withheld.flatMap(({ entries }) => [...entries]);
    expect(acl, `the page grants no ${text}`).not.toHaveLength(0);
    await admin.deleteAcls({ filters: acl });
    const grant = async () => void (await admin.createAcls({ acl }));
    onTestFinished(grant);
    return grant;
  };

  it(
    "lets gate, executor, agent, approver and analytics do their work",
    async () => {
      const services = (["gate", "executor", "analytics"] as const).map(start);
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
      const approval = () => approve(held.approvalId ?? "", gate?.directory ?? "");
      const grant = await withhold("User:approver --operation Write --topic toolcalls.verdicts.v1");
      const { code, stderr } = await approval();
      expect(code).toBe(3);
      expect(stderr).toMatch(NO_TOPIC);
      expect(stderr).not.toContain("unexpected");
      await grant();
      await expect.poll(async () => (await approval()).stderr, { timeout: 20_000 }).toBe("");
      expect(await agent.awaitResult(held.decisionId ?? "")).toMatchObject({ output: "removed" });

      const broken = connectKafka(kafka.directBootstrap).producer();
      await broken.connect();
      await broken.send({ topic: names.proposals, messages: [{ key: "default/c", value: "{" }] });
      await broken.disconnect();
      const letters = () => admin.fetchTopicOffsets(names.deadLetters);
      await expect.poll(async () => (await letters())[0]?.high, { timeout: 20_000 }).not.toBe("0");
      const counted = async () => (await analytics?.get("/metrics"))?.text();
      await expect.poll(counted, { timeout: 20_000 }).toContain('outcome="held"');

      for (const { child } of services) child.kill("SIGTERM");
      for (const { ended, lines } of services) {
        expect((await ended).code).toBe(0);
        expect(lines.filter(({ level }) => level === "error")).toEqual([]);
      }
    },
    WORK_MS,
  );

  const withoutRight: readonly (readonly [Service, string, RegExp])[] = [
    ["gate", "User:gate --operation Describe --operation DescribeConfigs", TOPIC],
    ["gate", "User:gate --operation Read --topic toolcalls.proposed.v1", TOPIC],
    ["gate", "User:gate --operation Read --topic toolcalls.decisions.v1", TOPIC],
    ["gate", "User:gate --operation Read --operation Describe --group", GROUP],
    ["gate", "User:gate --operation Write --operation Describe --transactional-id", TRANSACTIONS],
    ["executor", "User:executor --operation Read --topic toolcalls.allowed.v1", TOPIC],
    ["executor", "User:executor --operation Write --topic toolcalls.results.v1", NO_TOPIC],
    ["executor", "User:executor --operation Write --operation Describe", TRANSACTIONS],
    ["analytics", "User:analytics --operation Read --topic toolcalls.decisions.v1", TOPIC],
  ];

  it.each(withoutRight)(
    "a process (%s) without `%s` says so and does not work",
    async (who, withheld, told) => {
      await withhold(withheld);
      const service = start(who);
      const said = async () => {
        const ready = await service.get("/readyz").then(
          async (response) => `${response.status} ${await response.text()}`,
          () => "gone",
        );
        return `${ready} ${service.stderr} ${JSON.stringify(service.lines)}`;
      };
      await expect.poll(said, { timeout: TOLD_WITHIN_MS }).toMatch(told);
      expect(await said()).not.toMatch(/^200/);
    },
    WORK_MS,
  );

  it.each(["Write --topic toolcalls.proposed.v1", "Read --topic toolcalls.decisions.v1"])(
    "an agent without `%s` is told so",
    async (withheld) => {
      await withhold(`User:agent --operation ${withheld}`);
      const call = { conversationId: "d", callId: "1", tool: "look", arguments: {} };
      const said = async () => {
        const agent = await connect();
        return await agent.propose(call).then(JSON.stringify, String);
      };
      const told = /no right (to use the topic|on the cluster)/;
      await expect
        .poll(async () => said().catch(String), { timeout: TOLD_WITHIN_MS })
        .toMatch(told);
    },
    WORK_MS,
  );
});
