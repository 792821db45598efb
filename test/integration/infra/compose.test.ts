// What docker-compose.yml says, said to the real thing.
import { spawn } from "node:child_process";
import { ConfigResourceTypes, Kafka, logLevel } from "kafkajs";
import { describe, expect, test } from "vitest";
import { startHealthServer } from "../../../services/adapters/http/health-server.ts";
import { createProcessMetrics } from "../../../services/adapters/metrics/process-metrics.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { compose, processes } from "../../support/compose-file.ts";
import { endOf, runCallgate } from "../../support/run-callgate.ts";

const kafka = await kafkaBackend();

describe("a health check of docker-compose.yml", () => {
  const checked = processes.filter(({ healthcheck }) => healthcheck !== undefined);

  test.each(checked)("of $name finds out whether the process is ready", async (service) => {
    let ok = false;
    const server = await startHealthServer({
      host: "127.0.0.1",
      port: 0,
      live: () => ({ ok: true, detail: {} }),
      ready: () => ({ ok, detail: {} }),
      metrics: createProcessMetrics("gate"),
    });
    const [kind, command, ...args] = service.healthcheck?.test ?? [];
    expect([kind, command]).toEqual(["CMD", "node"]);
    const env = { ...process.env, CALLGATE_HTTP_PORT: String(server.port) };
    const check = () => endOf(spawn(process.execPath, args, { env }));
    try {
      expect(await check()).toMatchObject({ code: 1 });
      ok = true;
      expect(await check()).toMatchObject({ code: 0, stderr: "" });
    } finally {
      await server.close();
    }
    expect(await check()).toMatchObject({ code: 1 });
  });
});

test.each(processes)(
  "$name of docker-compose.yml runs a command that there is",
  async (service) => {
    const { command = [] } = service;
    const { code, stdout } = await runCallgate([...command, "--help"]);
    expect({ code, usage: stdout.split("\n")[0] }).toEqual({
      code: 0,
      usage: expect.stringContaining(`callgate ${command.join(" ")} `),
    });
  },
);

describe.skipIf(!kafka.available)("Kafka in docker-compose.yml", () => {
  const variables = Object.entries(compose.services["kafka"]?.environment ?? {});
  /** What the image reads itself. */
  const ofTheImage = new Set(["KAFKA_HEAP_OPTS"]);

  test("is given properties that Kafka has", async () => {
    const admin = new Kafka({ brokers: [...kafka.brokers], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    try {
      const { brokers } = await admin.describeCluster();
      const name = String(brokers[0]?.nodeId);
      const resources = [{ type: ConfigResourceTypes.BROKER, name }];
      const described = await admin.describeConfigs({ resources, includeSynonyms: false });
      const configNames = described.resources.flatMap(({ configEntries }) =>
        configEntries.map(({ configName }) => configName),
      );
      expect(configNames.length).toBeGreaterThan(100);
      const unknown = variables
        .filter(([variable]) => !ofTheImage.has(variable))
        .map(([variable]) => variable.replace("KAFKA_", "").toLowerCase().replaceAll("_", "."))
        .filter((property) => !configNames.includes(property));
      expect(unknown).toEqual([]);
    } finally {
      await admin.disconnect();
    }
  });
});
