import { describe, expect, test } from "vitest";
import { parseOptions, UsageError } from "../../../infra/local/parse-options.js";

describe("the options of infra:up", () => {
  test("are all parts and one broker when nothing is given", () => {
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

  test("come from the environment where they are not given", () => {
    const env = { CALLGATE_INFRA_KAFKA: "3.9", CALLGATE_INFRA_BROKERS: "3" };
    const options = parseOptions(["up", "--brokers", "1"], env);
    expect(options).toMatchObject({ kafka: "3.9", brokers: 1 });
  });

  test("take a variable that is empty for one that is not set", () => {
    expect(parseOptions(["up"], { CALLGATE_INFRA_ONLY: "" }).only).toHaveLength(3);
  });

  test("name parts in any order, which are started in ours", () => {
    expect(parseOptions(["up", "--only", "redis, kafka"], {}).only).toEqual(["kafka", "redis"]);
  });

  test("gather the properties of the brokers, equals signs in a value included", () => {
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
  ])("%j is refused", (args, message) => {
    expect(() => parseOptions(args, {})).toThrow(UsageError);
    expect(() => parseOptions(args, {})).toThrow(message);
  });
});
