import { describe, expect, test } from "vitest";
import { brokerProperties } from "../../../infra/local/kafka-properties.js";
import { kafkaLine } from "../../../infra/local/versions.js";

const brokers = [1, 2, 3].map((id) => ({
  id,
  port: id * 100,
  directPort: id * 100 + 1,
  controllerPort: id * 100 + 2,
  advertised: { host: "127.0.0.1", port: id * 100 + 50 },
}));

function propertiesOf(count: number, properties: Record<string, string | number> = {}) {
  const [broker] = brokers;
  if (broker === undefined) throw new Error("there is no broker");
  const all = brokers.slice(0, count);
  const options = { broker, all, dataFolder: "data", hasShareGroups: true, properties };
  const lines = brokerProperties(options).trimEnd().split("\n");
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/).slice(0, 2)));
}

describe("the properties of a broker", () => {
  test("let a single broker have groups and transactions", () => {
    expect(propertiesOf(1)).toMatchObject({
      "controller.quorum.voters": "1@127.0.0.1:102",
      "offsets.topic.replication.factor": "1",
      "transaction.state.log.replication.factor": "1",
      "transaction.state.log.min.isr": "1",
      "share.coordinator.state.topic.replication.factor": "1",
      "min.insync.replicas": "1",
    });
  });

  test("require three copies and two in sync with three brokers", () => {
    expect(propertiesOf(3)).toMatchObject({
      "controller.quorum.voters": "1@127.0.0.1:102,2@127.0.0.1:202,3@127.0.0.1:302",
      "default.replication.factor": "3",
      "min.insync.replicas": "2",
      "transaction.state.log.min.isr": "2",
    });
  });

  test("advertise one address to clients and another to brokers", () => {
    const { listeners, "advertised.listeners": advertised } = propertiesOf(1);
    expect(listeners).toContain("CLIENT://127.0.0.1:100");
    expect(advertised).toBe("CLIENT://127.0.0.1:150,DIRECT://127.0.0.1:101");
  });

  test("are overridden by requested ones", () => {
    expect(propertiesOf(1, { "log.retention.hours": 1 })["log.retention.hours"]).toBe("1");
  });
});

describe("a version of Kafka", () => {
  test("is a line of versions.json or a full version of one", () => {
    expect(kafkaLine("3.9").version).toMatch(/^3\.9\.\d+$/);
    expect(kafkaLine("4.3.0")).toEqual({ ...kafkaLine("4"), version: "4.3.0" });
  });

  test.each(["5", "3.8.0", "4.3", "latest"])("refuses `%s`", (line) => {
    expect(() => kafkaLine(line)).toThrow(/has no entry in versions.json/);
  });
});
