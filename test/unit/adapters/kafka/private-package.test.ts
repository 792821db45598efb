// A program that loads kafkajs itself, before or after us, has another copy.
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { loadKafkajs } from "../../../../services/adapters/kafka/patches/load-kafkajs.ts";
import { PrivatePackage } from "../../../../services/adapters/kafka/patches/private-package.ts";

const require = createRequire(import.meta.url);
const REPLACED = "producer/groupMessagesPerPartition";

test("patches our copy of kafkajs where the program has loaded it before, and not the program's", () => {
  const theirs = require("kafkajs") as { readonly Kafka: unknown };
  const group = require(`kafkajs/src/${REPLACED}`) as unknown;
  const connection = require("kafkajs/src/network/connection") as {
    readonly prototype: { readonly disconnect: { readonly name: string } };
  };

  const ours = loadKafkajs();

  expect(ours.Kafka).not.toBe(theirs.Kafka);
  expect(loadKafkajs()).toBe(ours);
  expect(require("kafkajs")).toBe(theirs);
  expect(require(`kafkajs/src/${REPLACED}`)).toBe(group);
  expect(connection.prototype.disconnect.name).toBe("disconnect");
});

type Versions = {
  readonly protocol: (what: { version: number }) => (input: object) => { response: unknown };
};

test("a copy has each module once and shares none, also those that are required late", () => {
  const [one, other] = [new PrivatePackage("kafkajs"), new PrivatePackage("kafkajs")];
  const requests = "src/protocol/requests/addPartitionsToTxn";
  const replacement = {};
  one.replace(`${requests}/v0/response`, replacement);

  const responseOf = (versions: Versions): unknown =>
    versions.protocol({ version: 0 })({ topics: [] }).response;
  for (const _ of ["at first", "and again"]) {
    expect(responseOf(one.load(requests) as Versions)).toBe(replacement);
    expect(responseOf(other.load(requests) as Versions)).toBe(
      other.load(`${requests}/v0/response`),
    );
  }
  expect(responseOf(require(`kafkajs/${requests}`) as Versions)).toBe(
    require(`kafkajs/${requests}/v0/response`),
  );
  expect(one.load("src/errors")).toBe(one.load("src/errors"));
  expect(one.load("src/errors")).not.toBe(other.load("src/errors"));
  expect(one.load()).toHaveProperty("Kafka");
});

test("loads a module again after it failed, instead of returning its partial exports", () => {
  const copy = new PrivatePackage("kafkajs");
  copy.replace("src/errors", null);
  const load = (): unknown => copy.load("src/retry/index");
  expect(load).toThrow(TypeError);
  expect(load).toThrow(TypeError);
});

test("throws for a missing package or module", () => {
  expect(() => new PrivatePackage("no-such-package")).toThrow(/no-such-package/);
  expect(() => new PrivatePackage("kafkajs").load("src/none")).toThrow(/src\/none/);
  expect(() => new PrivatePackage("kafkajs").replace("src/none", {})).toThrow(/src\/none/);
});
