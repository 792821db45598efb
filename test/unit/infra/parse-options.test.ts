import { describe, expect, test } from "vitest";
import { parseOptions, UsageError } from "../../../infra/local/parse-options.js";

describe("the options of infra:up", () => {
  test("default to all parts and one broker", () => {
    expect(parseOptions(["up"], {})).toEqual({
      command: "up",
      name: "default",
      only: ["kafka", "redis", "registry"],
      kafka: undefined,
      transactionVersion: undefined,
      brokers: 1,
      port: undefined,
      properties: {},
      json: false,
      help: false,
    });
  });

  test("default to the environment", () => {
    const env = { CALLGATE_INFRA_KAFKA: "3.9", CALLGATE_INFRA_BROKERS: "3" };
    const options = parseOptions(["up", "--brokers", "1"], env);
    expect(options).toMatchObject({ kafka: "3.9", brokers: 1 });
  });

  test("treat an empty variable as not set", () => {
    expect(parseOptions(["up"], { CALLGATE_INFRA_ONLY: "" }).only).toHaveLength(3);
  });

  test("name parts in any order, which start in a fixed order", () => {
    expect(parseOptions(["up", "--only", "redis, kafka"], {}).only).toEqual(["kafka", "redis"]);
  });

  test("collect properties of brokers, including equals signs in values", () => {
    const args = ["up", "--property", "log.retention.ms=5000", "--property", "a=b=c"];
    expect(parseOptions(args, {}).properties).toEqual({ "log.retention.ms": "5000", a: "b=c" });
  });

  test.each([
    [[], /give one of up, down/],
    [["restart"], /give one of up, down/],
    [["up", "kafka"], /give one of up, down/],
    [["up", "--only", "zookeeper"], /--only `zookeeper`/],
    [["up", "--brokers", "0"], /--brokers `0`: give a number from 1 to 9/],
    [["up", "--transaction-version", "two"], /--transaction-version `two`/],
    [["up", "--port", "80"], /--port `80`/],
    [["up", "--property", "log.retention.ms"], /KEY=VALUE/],
    [["down", "--name", "../elsewhere"], /--name `..\/elsewhere`/],
    [["up", "--brokes", "3"], /brokes/],
  ])("refuse %j", (args, message) => {
    expect(() => parseOptions(args, {})).toThrow(UsageError);
    expect(() => parseOptions(args, {})).toThrow(message);
  });
});
