import { expect, it } from "vitest";
import { isFencedCode, mapKafkaError } from "../../../../services/adapters/kafka/map-error.ts";

/** kafkajs' error for topics that a broker did not create. */
function notMade(code: number, ...topics: readonly string[]): Error {
  const errors = topics.map((topic) =>
    Object.assign(new Error("the broker's words"), { topic, code }),
  );
  return Object.assign(new Error("Topic creation errors"), { errors });
}

it("explains why a broker did not create topics, with their names", () => {
  const { message, disposition } = mapKafkaError(notMade(38, "a", "b"), "changing the topics");
  expect(message).toBe(
    "changing the topics: there are fewer brokers than replicas: lower --replication " +
      "(Topic creation errors: `a`, `b`: the broker's words)",
  );
  expect(disposition).toBe("fatal");
  expect(mapKafkaError(notMade(17, "a b"), "x").message).toContain("the topic's name is not valid");
  expect(mapKafkaError(notMade(44, "a"), "x").message).toContain("`a`: the broker's words");
});

it("maps to fenced where another producer has the id, or the broker has forgotten it", () => {
  const codes = Array.from({ length: 120 }, (_, code) => code);
  const fenced = [45, 47, 48, 49, 59, 90];
  expect(codes.filter(isFencedCode)).toEqual(fenced);
  const refused = (code: number): Error =>
    new Error("outer", { cause: Object.assign(new Error("x"), { code }) });
  const dispositions = codes.map((code) => mapKafkaError(refused(code), "committing").disposition);
  expect(codes.filter((code) => dispositions[code] === "fenced")).toEqual(fenced);
  expect(isFencedCode(undefined)).toBe(false);
});

it("names the address where no server listens, also where Node's error has no text", () => {
  // Node 20's error where `localhost` is ::1 and 127.0.0.1, as kafkajs passes it on.
  const both = Object.assign(new Error("Connection error: "), { code: "ECONNREFUSED" });
  expect(mapKafkaError(both, "reading the topics", ["localhost:1"]).message).toBe(
    "reading the topics: Connection error: ECONNREFUSED; is a broker running at localhost:1? see `kafka.brokers`",
  );
  const one = new Error("Connection error: connect ECONNREFUSED 127.0.0.1:1");
  expect(mapKafkaError(one, "asking").message).toBe(
    "asking: Connection error: connect ECONNREFUSED 127.0.0.1:1; is a broker running there? see `kafka.brokers`",
  );
});

it("distinguishes TLS to a plaintext listener from plaintext to one with TLS or SASL", () => {
  const noTls = new Error(
    "Client network socket disconnected before secure TLS connection was established",
  );
  // Node's message, as kafkajs passes it on.
  for (const text of [noTls.message, `Connection error: ${noTls.message}`]) {
    const { message, disposition } = mapKafkaError(new Error(text), "asking", ["b:9092"]);
    expect(message).toBe(
      `asking: ${text}; the listener at b:9092 may not speak TLS, see \`kafka.ssl.enabled\``,
    );
    expect(disposition).toBe("retry");
  }
  expect(mapKafkaError(noTls, "asking").message).toContain("; the listener there may not speak");
  expect(mapKafkaError(new Error("Closed connection"), "asking").message).toBe(
    "asking: Closed connection; does that listener require TLS or SASL?",
  );
});
