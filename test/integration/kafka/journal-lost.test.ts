// A journal on Kafka that lost records that Redis knows of: the gate does not run it until a person
// accepts the loss, and then records the acceptance in the journal.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { registerSecrets, secretFrom } from "../../../services/adapters/config/secret-file.ts";
import { topicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import { RedisClient } from "../../../services/adapters/redis/redis-client.ts";
import { RedisHeads } from "../../../services/adapters/redis/redis-heads.ts";
import type { KafkaGate } from "../../../services/gate/open-kafka-gate.ts";
import type { Log } from "../../../services/runtime/ports.ts";
import { quietLogger } from "../../../services/runtime/quiet-logger.ts";
import { readJournal } from "../../../services/runtime/read-journal.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { redisBackend } from "../../support/backends/redis-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { connectKafka, createTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import {
  JOURNAL_RETENTION,
  openTestGate,
  propose,
  testCodec,
  testSecrets,
  untilDecided,
} from "../../support/kafka/test-gate.ts";
import { makeDirectory } from "../../support/open-gate.ts";
import { runCallgate } from "../../support/run-callgate.ts";
import { until } from "../../support/runtime-kit.ts";

const kafka = await kafkaBackend();
const redis = await redisBackend();
const OTHER_SECRET = "another secret of some length";
const available = kafka.available && redis.available;

type Deployment = {
  readonly prefix: string;
  readonly group: string;
  readonly heads: (log: Pick<Log, "clusterId" | "topicId">) => RedisHeads;
};

async function makeDeployment(): Promise<Deployment> {
  const prefix = uniqueName("t");
  const group = uniqueName("gates");
  const names = topicNames(prefix);
  await createTopics(kafka.brokers, Object.values(names), {
    partitions: 1,
    config: JOURNAL_RETENTION,
  });
  const client = new RedisClient(
    {
      server: { type: "single", url: redis.url },
      clientName: "callgate-test",
      commandTimeoutMs: 10_000,
      connectTimeoutMs: 5_000,
    },
    quietLogger,
  );
  onTestFinished(() => client.close());
  const topic = names.decisions;
  const heads: Deployment["heads"] = (log) =>
    new RedisHeads({ client, log, scope: { clusterId: log.clusterId, topic, group } });
  return { prefix, group, heads };
}

async function startGate(
  { prefix, group, heads }: Deployment,
  secrets: typeof testSecrets = testSecrets,
): Promise<KafkaGate> {
  const gate = await openTestGate(kafka.brokers, topicNames(prefix), {
    ...{ group, heads, secrets },
    tuning: { offsetsGraceMs: 1_500 },
  });
  onTestFinished(() => gate.stop());
  await gate.host.start();
  return gate;
}

async function openLogOf({ prefix }: Deployment) {
  const log = await openTestLog(kafka.brokers, topicNames(prefix));
  onTestFinished(() => log.close());
  return log;
}

/** Decides some calls and ends the gate in order. */
async function useUp(deployment: Deployment): Promise<void> {
  const gate = await startGate(deployment);
  const log = await openLogOf(deployment);
  await propose(log, 0, 10);
  await untilDecided(log, 10);
  await gate.stop();
}

async function refusalOf(
  gate: KafkaGate,
): Promise<{ readonly code: string; readonly text: string }> {
  const failed = () => gate.host.status().partitions.find(({ state }) => state === "closed");
  await until(() => failed() !== undefined);
  const error = failed()?.error;
  await gate.stop();
  return { code: error?.code ?? "", text: error?.message ?? "" };
}

async function recover(
  { prefix, group }: Deployment,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const file = join(makeDirectory(), "callgate.yaml");
  const config = {
    kafka: { brokers: kafka.brokers, topicPrefix: prefix, group },
    redis: { url: redis.url },
  };
  writeFileSync(file, JSON.stringify(config));
  return runCallgate([...args, "--config", file], { env });
}

async function acceptedIn(deployment: Deployment): Promise<readonly unknown[]> {
  const log = await openLogOf(deployment);
  const end = await log.endOffset("decisions", 0);
  const accepted: unknown[] = [];
  for await (const entries of readJournal(log, testCodec, 0, 0, end)) {
    accepted.push(...entries.flatMap(({ record }) => record.anchor?.accepted ?? []));
  }
  return accepted;
}

describe.skipIf(!available)(
  `a journal that lost records that Redis knows of ${kafka.reason}`,
  () => {
    it("is not run where all topics were created again, until the loss is accepted", async () => {
      const deployment = await makeDeployment();
      await useUp(deployment);
      const admin = connectKafka(kafka.brokers).admin();
      await admin.connect();
      onTestFinished(() => admin.disconnect());
      const topics = Object.values(topicNames(deployment.prefix));
      await admin.deleteTopics({ topics });
      await until(async () => (await admin.listTopics()).every((name) => !topics.includes(name)));
      await createTopics(kafka.brokers, topics, { partitions: 1, config: JOURNAL_RETENTION });

      const { code, text } = await refusalOf(await startGate(deployment));
      expect(code).toBe("journal_lost");
      expect(text).toContain("was made anew");
      expect(text).toContain("callgate recover --accept-loss");
      const shown = await recover(deployment, ["recover"]);
      expect(shown).toMatchObject({ code: 1 });
      expect(shown.stdout).toContain("was made anew");
      expect((await recover(deployment, ["verify"])).code).toBe(1);

      const said = ["--accept-loss", "--by", "ann", "--reason", "a new start"];
      expect(await recover(deployment, ["recover", ...said])).toMatchObject({ code: 0 });
      const gate = await startGate(deployment);
      const log = await openLogOf(deployment);
      await propose(log, 0, 5);
      await untilDecided(log, 5);
      expect(await acceptedIn(deployment)).toMatchObject([{ by: "ann", reason: "a new start" }]);
      await gate.stop();
      expect(await recover(deployment, ["recover"])).toMatchObject({ code: 0 });
    });

    it("is not run where it ends before its head", async () => {
      const deployment = await makeDeployment();
      await useUp(deployment);
      const log = await openLogOf(deployment);
      const heads = deployment.heads(log);
      const head = await heads.load(0);
      if (head === null) throw new Error("the gate left no head");
      await heads.save(0, { ...head, journalOffset: head.journalOffset + 7, seq: head.seq + 5 });
      const { code, text } = await refusalOf(await startGate(deployment));
      expect(code).toBe("journal_lost");
      expect(text).toMatch(/ends at offset \d+ and had come to \d+/);

      expect(await recover(deployment, ["recover", "--accept-loss"])).toMatchObject({ code: 0 });
      const gate = await startGate(deployment);
      await propose(log, 20, 5);
      await untilDecided(log, 15);
      expect(await acceptedIn(deployment)).toHaveLength(1);
      await gate.stop();
    });

    it("is not run by a gate with another secret until the loss is accepted", async () => {
      const deployment = await makeDeployment();
      await useUp(deployment);
      const other = secretFrom(OTHER_SECRET);
      if (!other.ok) throw new Error(other.problem.message);
      const secrets = registerSecrets(other.secret, [], "Name it in `secrets`");
      const { code, text } = await refusalOf(await startGate(deployment, secrets));
      expect(code).toBe("secret_missing");
      expect(text).toContain(testSecrets.currentKeyId);
      expect(text).toContain("Name it in `secrets`");

      const env = { CALLGATE_SECRET_VALUE: OTHER_SECRET };
      expect(await recover(deployment, ["recover"], env)).toMatchObject({ code: 1 });
      expect(await recover(deployment, ["recover", "--accept-loss"], env)).toMatchObject({
        code: 0,
      });
      const gate = await startGate(deployment, secrets);
      const log = await openLogOf(deployment);
      await propose(log, 20, 5);
      await untilDecided(log, 15);
      expect(await acceptedIn(deployment)).toHaveLength(1);
      await gate.stop();
    });
  },
);
