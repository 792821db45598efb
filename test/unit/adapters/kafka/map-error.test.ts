import { expect, it } from "vitest";
import { mapKafkaError } from "../../../../services/adapters/kafka/map-error.ts";

/** As kafkajs tells of topics that a broker did not make. */
function notMade(code: number, ...topics: readonly string[]): Error {
  const errors = topics.map((topic) =>
    Object.assign(new Error("the broker's words"), { topic, code }),
  );
  return Object.assign(new Error("Topic creation errors"), { errors });
}

it("tells why a broker did not make topics, and of which it says so", () => {
  const { message, disposition } = mapKafkaError(notMade(38, "a", "b"), "changing the topics");
  expect(message).toBe(
    "changing the topics: more replicas are asked for than there are brokers: give fewer by " +
      "--replication (Topic creation errors: `a`, `b`: the broker's words)",
  );
  expect(disposition).toBe("fatal");
  expect(mapKafkaError(notMade(17, "a b"), "x").message).toContain("the topic's name is not valid");
  expect(mapKafkaError(notMade(44, "a"), "x").message).toContain("`a`: the broker's words");
});
