import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { formatConfigProblem } from "../../../../services/adapters/config/config-problem.ts";
import { configOf, loadConfig } from "../../../../services/adapters/config/load-config.ts";
import { maskedConfig } from "../../../../services/adapters/config/masked-config.ts";

const BROKERS = { CALLGATE_KAFKA_BROKERS: "one:9092, two:9092" };

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), "callgate-config-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function write(text: string, name = "callgate.yaml"): string {
  const file = join(directory(), name);
  writeFileSync(file, text);
  return file;
}

function load(
  file: string | undefined,
  variables: Readonly<Record<string, string>> = {},
  needs: readonly string[] = [],
) {
  return loadConfig({ file, variables: new Map(Object.entries(variables)), needs });
}

function configOfFile(...args: Parameters<typeof load>) {
  const result = load(...args);
  if (!result.ok) throw new Error(result.problems.map(formatConfigProblem).join("\n"));
  return result.config;
}

/** Lines of the problems, with the path of the file replaced. */
function problemsOf(...args: Parameters<typeof load>): readonly string[] {
  const result = load(...args);
  if (result.ok) throw new Error("nothing was wrong");
  const [file = ""] = args;
  return result.problems.map((problem) => formatConfigProblem(problem).replace(file, "FILE"));
}

describe("the configuration of a process", () => {
  test("can come from the environment alone", () => {
    const { kafka, http, shutdownMs, redis } = configOfFile(undefined, {
      ...BROKERS,
      CALLGATE_HTTP_PORT: "0",
      CALLGATE_SHUTDOWN_MS: "2500",
      CALLGATE_KAFKA_SSL_ENABLED: "true",
    });
    expect(kafka.brokers).toEqual(["one:9092", "two:9092"]);
    expect(kafka.ssl.enabled).toBe(true);
    expect(kafka.topicPrefix).toBe("toolcalls");
    expect(http).toEqual({ host: "127.0.0.1", port: 0 });
    expect(shutdownMs).toBe(2_500);
    expect(redis).toBeUndefined();
  });

  test("comes from a file, and the environment overrides it", () => {
    const file = write("kafka:\n  brokers: [one:1]\n  group: ours\nlog: {level: warn}\n");
    const { kafka, log } = configOfFile(file, { CALLGATE_KAFKA_GROUP: "theirs" });
    expect(kafka).toMatchObject({ brokers: ["one:1"], group: "theirs" });
    expect(log.level).toBe("warn");
  });

  test("takes a preset only for what nobody set", () => {
    const presets = new Map([["CALLGATE_KAFKA_BROKERS", "preset:1"]]);
    const file = write("kafka: {brokers: [one:1]}\n");
    const brokersOf = (file: string | undefined, variables: ReadonlyMap<string, string>) => {
      const result = loadConfig({ file, variables, needs: [], presets });
      return result.ok ? result.config.kafka.brokers : result.problems;
    };
    expect(brokersOf(file, new Map())).toEqual(["one:1"]);
    const variables = new Map([["CALLGATE_KAFKA_BROKERS", "environment:1"]]);
    expect(brokersOf(file, variables)).toEqual(["environment:1"]);
    expect(brokersOf(undefined, new Map())).toEqual(["preset:1"]);
  });

  test("can be JSON", () => {
    const file = write('{"kafka": {"brokers": ["one:1"]}}', "callgate.json");
    expect(configOfFile(file).kafka.brokers).toEqual(["one:1"]);
  });

  test("resolves paths in a file against the file, and paths in variables against the working directory", () => {
    const file = write("kafka: {brokers: [one:1]}\npolicy: {files: [policy.yaml]}\n");
    const beside = join(file, "..", "policy.yaml");
    expect(configOfFile(file).policy.files).toEqual([beside]);
    const config = configOfFile(file, { CALLGATE_POLICY_FILES: "other.yaml" });
    expect(config.policy.files).toEqual(["other.yaml"]);
  });

  test("reads secrets from files, and prefers a secret of the environment", () => {
    const secret = write("from the file of a file\n", "secret");
    const file = write(`kafka: {brokers: [one:1]}\nsecret: {valueFile: ${secret}}\n`);
    expect(configOfFile(file).secret.value).toBe("from the file of a file");
    const variables = { CALLGATE_SECRET_VALUE: "from the environment" };
    expect(configOfFile(file, variables).secret.value).toBe("from the environment");
  });

  test("derives the names of an environment from its prefix, or from the name of its installation", () => {
    const namesOf = (variables: Readonly<Record<string, string>>) => {
      const { kafka, executor } = configOfFile(undefined, { ...BROKERS, ...variables });
      return [kafka.app, kafka.group, executor.group];
    };
    expect(namesOf({})).toEqual(["callgate", "callgate-gate", "callgate-executor"]);
    expect(namesOf({ CALLGATE_KAFKA_TOPIC_PREFIX: "toolcalls" })).toEqual(namesOf({}));
    expect(namesOf({ CALLGATE_KAFKA_TOPIC_PREFIX: "staging" })).toEqual([
      ...["callgate-staging", "callgate-staging-gate", "callgate-staging-executor"],
    ]);
    expect(namesOf({ CALLGATE_KAFKA_APP: "mine", CALLGATE_EXECUTOR_GROUP: "tools" })).toEqual([
      ...["mine", "mine-gate", "tools"],
    ]);
    const file = write("kafka: {brokers: [one:1], topicPrefix: a}\nexecutor: {parallelCalls: 3}\n");
    expect(configOfFile(file).executor.group).toBe("callgate-a-executor");
  });

  test("can be passed by a program in the same form", () => {
    const kafka = { brokers: ["one:1"], clientId: undefined };
    expect(configOf({ kafka }, "options")).toMatchObject({ ok: true });
    const result = configOf({ kafka: { broker: "one:1" } }, "the options");
    expect(result.ok ? [] : result.problems.map(formatConfigProblem)).toEqual([
      "the options: kafka.brokers: is missing; add it, or set CALLGATE_KAFKA_BROKERS",
      "the options: kafka.broker: is not a key; did you mean `brokers`?",
    ]);
  });
});

describe("loading a wrong configuration", () => {
  test("reports all problems at once, each with its location", () => {
    const file = write(`kafka:
  brokers: localhost:9092
  sasl: {mechanism: plain, username: me}
  sessionTimeoutMs: 1500
http: {port: 99999}
redis: {url: "redis://a:1", sentinels: ["b:1"]}
log:
  levl: info
colour: red
`);
    const variables = {
      CALLGATE_KAFKA_BROKER: "one:1",
      CALLGATE_SHUTDOWN_MS: "soon",
      CALLGATE_KAFKA_HEARTBEAT_INTERVAL_MS: "1000",
    };
    expect(problemsOf(file, variables, ["policy.files", "secret.value"])).toEqual([
      "CALLGATE_KAFKA_BROKER: is not a Callgate variable; did you mean `CALLGATE_KAFKA_BROKERS`? Otherwise remove it",
      "CALLGATE_SHUTDOWN_MS: shutdownMs: must be a whole number; write a whole number",
      "FILE:2:3: kafka.brokers: must be a list; write a list",
      "FILE:5:8: http.port: must be at most 65535; write a number of at most 65535",
      "FILE:8:3: log.levl: is not a key; did you mean `level`?",
      expect.stringMatching(/^FILE:9:1: colour: is not a key; the keys here are kafka, /),
      "FILE: policy.files: is missing; add it, or set CALLGATE_POLICY_FILES",
      "FILE: secret.value: is missing; add it, or set CALLGATE_SECRET_VALUE or CALLGATE_SECRET_VALUE_FILE",
      "FILE:3:3: kafka.sasl.password: is missing; add it, or set CALLGATE_KAFKA_SASL_PASSWORD or CALLGATE_KAFKA_SASL_PASSWORD_FILE",
      "FILE:6:29: redis.sentinels: is set together with `redis.url`; set one of `redis.url`, `redis.sentinels` and `redis.clusterNodes`",
      "FILE:4:3: kafka.sessionTimeoutMs: is less than 3 times `kafka.heartbeatIntervalMs` (1000); raise it, or lower the other",
    ]);
  });

  test.each([
    ["kafka: [", /^FILE:1:\d+: not YAML: .*; indent .*, and close every bracket$/],
    ["- one", /^FILE:1:1: is not a map of keys; begin with a key such as `kafka:`$/],
    ["kafka: {brokers: [one:1], brokers: [two:1]}", /^FILE:1:\d+: not YAML: .*unique/],
    [
      "kafka: {brokers: [one]}",
      /^FILE:1:19: kafka\.brokers\.0: is not an address; write `host:port`/,
    ],
    ["kafka: {brokers: []}", /^FILE:1:9: kafka\.brokers: is empty; set a value/],
    ["log: {level: loud}", /^FILE:1:7: log\.level: must be one of `debug`, `info`/],
    ["redis: {ssl: {enabled: true}}", /^FILE:1:1: redis: names no server; set one of/],
    [
      "secret: {value: short}",
      /^FILE:1:10: secret\.value: must have at least 16 characters; write/,
    ],
    [
      "executor: {group: callgate-gate}",
      /^FILE:1:12: executor\.group: gate and executors have the/,
    ],
    ["redis: {sentinels: [a:1]}", /^FILE: ?.*redis\.sentinelName: is missing; add it, or set/],
    ["registry: {password: hidden}", /^FILE:1:1: registry\.url: is missing; add it, or set/],
  ])("reports %s", (text, expected) => {
    const file = write(/kafka|^-/.test(text) ? text : `${text}\nkafka: {brokers: [one:1]}`);
    expect(problemsOf(file)).toContainEqual(expect.stringMatching(expected));
  });

  test("reports two topics with one name, by default or explicit", () => {
    const file = write("kafka: {brokers: [one:1], topicPrefix: t2}");
    const remedy = "give each topic a name of its own";
    expect(problemsOf(file, { CALLGATE_KAFKA_TOPICS_PROPOSALS: "t2.results.v1" })).toEqual([
      `CALLGATE_KAFKA_TOPICS_PROPOSALS: kafka.topics.proposals: is the name of \`results\` too; ${remedy}`,
    ]);
    const both = { CALLGATE_KAFKA_TOPICS_HELD: "x", CALLGATE_KAFKA_TOPICS_ALERTS: "x" };
    expect(problemsOf(file, both)).toEqual([
      `CALLGATE_KAFKA_TOPICS_ALERTS: kafka.topics.alerts: is the name of \`held\` too; ${remedy}`,
    ]);
    const swapped = {
      CALLGATE_KAFKA_TOPICS_PROPOSALS: "t2.results.v1",
      CALLGATE_KAFKA_TOPICS_RESULTS: "t2.proposed.v1",
    };
    expect(load(file, swapped).ok).toBe(true);
  });

  test.each(["redis://one:1/abc", "redis://one:1/0/1", "http://one:1", "one:1", "redis:///0"])(
    "refuses %s as the address of Redis",
    (url) => {
      const file = write("kafka: {brokers: [one:1]}");
      expect(problemsOf(file, { CALLGATE_REDIS_URL: url })).toEqual([
        "CALLGATE_REDIS_URL: redis.url: is not the address of a Redis database; write `redis://host:port/0`, or `rediss://` for TLS; the number is the database's",
      ]);
    },
  );

  test.each(["redis://one", "redis://one:1/", "rediss://me:word@one:1/12", "redis://[::1]:1/0"])(
    "accepts %s as the address of Redis",
    (url) => {
      expect(configOfFile(undefined, { ...BROKERS, CALLGATE_REDIS_URL: url }).redis?.url).toBe(url);
    },
  );

  test("reports a variable without its unit, with a suggestion", () => {
    const file = write("kafka: {brokers: [one:1]}");
    const set = { CALLGATE_KAFKA_SESSION_TIMEOUT: "1", CALLGATE_WEB_PORT_80_TCP: "tcp://10.0.0.1" };
    expect(problemsOf(file, set)).toEqual([
      "CALLGATE_KAFKA_SESSION_TIMEOUT: is not a Callgate variable; did you mean `CALLGATE_KAFKA_SESSION_TIMEOUT_MS`? Otherwise remove it",
    ]);
  });

  test("reports a missing file", () => {
    const problems = problemsOf(join(directory(), "nowhere.yaml"));
    expect(problems).toEqual([expect.stringMatching(/^FILE: cannot be read: .*; check the path$/)]);
  });

  test("reports an unusable secret file, and a secret that is set twice", () => {
    const empty = write("\n", "empty");
    const file = write(`kafka: {brokers: [one:1]}
secret: {valueFile: ${empty}}
registry: {url: "http://a:1", username: me, password: here, passwordFile: ${empty}}
`);
    expect(problemsOf(file)).toEqual([
      expect.stringMatching(/^FILE:3:61: registry\.passwordFile: is set together with/),
      expect.stringMatching(/^FILE:2:10: secret\.valueFile: `.*empty` is empty; check the path/),
    ]);
  });

  test("ignores a variable that is not similar to ours", () => {
    const theirs = { CALLGATE_GATE_SERVICE_HOST: "10.0.0.1", CALLGATE_PORT_8080_TCP: "tcp://a" };
    expect(load(undefined, { ...BROKERS, ...theirs }).ok).toBe(true);
  });

  test("quotes no secret in a message", () => {
    const file = write(`kafka:
  brokers: [one:1]
  sasl: {mechanism: hidden, username: me, password: hidden}
registry: {url: "hidden"}
secret: {value: 5, value2: hidden}
`);
    const problems = problemsOf(file);
    expect(problems).toHaveLength(4);
    expect(problems.join("\n")).not.toContain("hidden");
  });
});

test("masks all secrets in the shown configuration", () => {
  const config = configOfFile(undefined, {
    ...BROKERS,
    CALLGATE_SECRET_VALUE: "hidden hidden hidden",
    CALLGATE_REDIS_URL: "redis://me:hidden@one:1/0",
    CALLGATE_REGISTRY_URL: "http://one:1",
    CALLGATE_REGISTRY_USERNAME: "me",
    CALLGATE_REGISTRY_PASSWORD: "hidden",
  });
  const shown = maskedConfig(config);
  expect(JSON.stringify(shown)).not.toContain("hidden");
  expect(shown).toMatchObject({
    secret: { value: "********" },
    redis: { url: "redis://********@one:1/0" },
    registry: { url: "http://one:1", username: "me", password: "********" },
  });
});
