// Values of the right type that cannot work: an impossible address, an invalid topic name, incomplete TLS,
// missing files. All are reported before any connection is made.
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { formatConfigProblem } from "../../../../services/adapters/config/config-problem.ts";
import { loadConfig } from "../../../../services/adapters/config/load-config.ts";
import { CERTIFICATE, KEY } from "../../../support/tls/fixed-pair.ts";

/** The private key of the fixed pair, encrypted. */
const ENCRYPTED = createPrivateKey(KEY).export({
  ...{ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "hidden" },
});

function directory(files: Readonly<Record<string, string>> = {}): string {
  const path = mkdtempSync(join(tmpdir(), "callgate-mistyped-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
}

/** Lines of the problems of variables, with valid brokers. */
function problemsOf(
  variables: Readonly<Record<string, string>>,
  needs: readonly string[] = [],
): readonly string[] {
  const withBrokers = { CALLGATE_KAFKA_BROKERS: "one:9092", ...variables };
  const result = loadConfig({
    file: undefined,
    variables: new Map(Object.entries(withBrokers)),
    needs,
  });
  return result.ok ? [] : result.problems.map(formatConfigProblem);
}

describe("an impossible value", () => {
  test.each([
    ["CALLGATE_KAFKA_BROKERS", "a:99999", /kafka\.brokers\.0: is not an address; .* 1 to 65535$/],
    ["CALLGATE_KAFKA_BROKERS", "a:1,b:0", /kafka\.brokers\.1: is not an address;/],
    ["CALLGATE_REDIS_SENTINELS", "a:65536", /redis\.sentinels\.0: is not an address;/],
    ["CALLGATE_REDIS_URL", "redis://one:0/0", /redis\.url: is not the address of a Redis database/],
    [
      "CALLGATE_REGISTRY_URL",
      "ftp://one",
      /registry\.url: is not the address of an API; write `http:/,
    ],
    ["CALLGATE_REGISTRY_URL", "http://one:0", /registry\.url: is not the address of an API;/],
    ["CALLGATE_REGISTRY_URL", "one:8081", /registry\.url: is not the address of an API;/],
    [
      "CALLGATE_KAFKA_TOPIC_PREFIX",
      "bad prefix!",
      /kafka\.topicPrefix: is not valid in a topic name;/,
    ],
    [
      "CALLGATE_KAFKA_TOPIC_PREFIX",
      "x".repeat(235),
      /is not valid in a topic name; write at most 234 /,
    ],
    ["CALLGATE_KAFKA_TOPICS_HELD", "a/b", /kafka\.topics\.held: is not valid in a topic name;/],
    ["CALLGATE_KAFKA_TOPICS_HELD", "..", /kafka\.topics\.held: is not valid in a topic name;/],
    [
      "CALLGATE_KAFKA_TOPICS_HELD",
      "x".repeat(250),
      /is not valid in a topic name; write at most 249 /,
    ],
    ["CALLGATE_KAFKA_APP", "callgate ", /kafka\.app: begins or ends with a space, .*; remove it$/],
    ["CALLGATE_KAFKA_GROUP", " gates", /kafka\.group: begins or ends with a space/],
    ["CALLGATE_KAFKA_CLIENT_ID", "a\nb", /kafka\.clientId: .* a control character; remove it$/],
    ["CALLGATE_EXECUTOR_GROUP", "tools ", /executor\.group: begins or ends with a space/],
    ["CALLGATE_KAFKA_SSL_SERVER_NAME", "kafka:9093", /kafka\.ssl\.serverName: is not a host;/],
    [
      "CALLGATE_HTTP_HOST",
      "localhost:8080",
      /http\.host: is not a host; .* without scheme and port$/,
    ],
    ["CALLGATE_HTTP_HOST", "http://localhost", /http\.host: is not a host;/],
  ])("refuses %s=%s", (variable, value, expected) => {
    expect(problemsOf({ [variable]: value })[0]).toMatch(expected);
  });

  test.each([
    ["CALLGATE_KAFKA_BROKERS", "[::1]:1,a_b.c:65535"],
    ["CALLGATE_REGISTRY_URL", "HTTPS://me:word@one/apis/ccompat/v7"],
    ["CALLGATE_KAFKA_TOPIC_PREFIX", "x".repeat(234)],
    ["CALLGATE_KAFKA_TOPICS_HELD", "Held_1.v-2"],
    ["CALLGATE_KAFKA_GROUP", "gates of Zürich"],
    ["CALLGATE_HTTP_HOST", "::"],
    ["CALLGATE_HTTP_HOST", "gate-1.local"],
  ])("accepts %s=%s", (variable, value) => {
    expect(problemsOf({ [variable]: value })).toEqual([]);
  });

  test("is reported once where it is empty", () => {
    expect(problemsOf({ CALLGATE_KAFKA_BROKERS: "one:1," })).toHaveLength(1);
    const file = join(
      directory({ "c.yaml": "kafka: {topicPrefix: '', brokers: ['a:1']}" }),
      "c.yaml",
    );
    const result = loadConfig({ file, variables: new Map(), needs: [] });
    expect(result.ok ? [] : result.problems.map(({ message }) => message)).toEqual(["is empty"]);
  });

  test("refuses a registry password without a user name", () => {
    const set = { CALLGATE_REGISTRY_URL: "http://one", CALLGATE_REGISTRY_PASSWORD: "hidden" };
    expect(problemsOf(set)).toEqual([
      expect.stringMatching(/registry\.username: is missing; add it, or set CALLGATE_REGISTRY_/),
    ]);
  });
});

describe("incomplete TLS", () => {
  test.each([
    ["KAFKA", "CA_FILE", "kafka.ssl.caFile"],
    ["KAFKA", "SERVER_NAME", "kafka.ssl.serverName"],
    ["REDIS", "CA_FILE", "redis.ssl.caFile"],
  ])("reports TLS keys of %s without TLS: %s", (of, leaf, key) => {
    const set = { CALLGATE_REDIS_URL: "redis://one", [`CALLGATE_${of}_SSL_${leaf}`]: "ca.pem" };
    const asked = `\`${of.toLowerCase()}.ssl.enabled\``;
    expect(problemsOf(set)).toEqual([
      `CALLGATE_${of}_SSL_${leaf}: ${key}: has no effect without ${asked}; set that to true, or to false where no TLS is meant`,
    ]);
    expect(problemsOf({ ...set, [`CALLGATE_${of}_SSL_ENABLED`]: "false" })).toEqual([]);
  });

  test("reports a registry's TLS file for an address without TLS", () => {
    const set = { CALLGATE_REGISTRY_URL: "http://one", CALLGATE_REGISTRY_SSL_CA_FILE: "ca.pem" };
    expect(problemsOf(set)).toEqual([
      "CALLGATE_REGISTRY_SSL_CA_FILE: registry.ssl.caFile: has no effect, since `registry.url` does not begin with `https`; write `https://` there, or remove the key",
    ]);
  });

  test("requires a key for a certificate, a certificate for a key, and a key for a passphrase", () => {
    const folder = directory({ cert: CERTIFICATE, key: ENCRYPTED.toString() });
    const ssl = (leaf: string, value: string) => ({ [`CALLGATE_KAFKA_SSL_${leaf}`]: value });
    const on = ssl("ENABLED", "true");
    const cert = ssl("CERT_FILE", join(folder, "cert"));
    const key = ssl("KEY_FILE", join(folder, "key"));
    expect(problemsOf({ ...on, ...cert, ...key, ...ssl("PASSPHRASE", "hidden") })).toEqual([]);
    expect(problemsOf({ ...on, ...cert, ...ssl("PASSPHRASE", "hidden") })).toEqual([
      "CALLGATE_KAFKA_SSL_CERT_FILE: kafka.ssl.certFile: is set without `kafka.ssl.keyFile`; set both, or remove it",
      "CALLGATE_KAFKA_SSL_PASSPHRASE: kafka.ssl.passphrase: is set without `kafka.ssl.keyFile`; set both, or remove it",
    ]);
    expect(problemsOf({ ...on, ...key })).toEqual([
      expect.stringMatching(/kafka\.ssl\.keyFile: is set without `kafka\.ssl\.certFile`;/),
    ]);
  });

  const { privateKey: other } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  test.each([
    ["its own", KEY, {}, []],
    ["its own, encrypted", ENCRYPTED, { PASSPHRASE: "hidden" }, []],
    ["encrypted, without its passphrase", ENCRYPTED, {}, ["bad decrypt"]],
    ["encrypted, with another passphrase", ENCRYPTED, { PASSPHRASE: "other" }, ["bad decrypt"]],
    ["of another", other.export({ type: "pkcs8", format: "pem" }), {}, ["key values mismatch"]],
    ["cut short", KEY.slice(0, 120), {}, ["unsupported"]],
  ])("checks a certificate whose key is %s", (_name, key, leaves, expected) => {
    const folder = directory({ cert: CERTIFICATE, key: key.toString() });
    const set = { ENABLED: "true", CERT_FILE: join(folder, "cert"), KEY_FILE: join(folder, "key") };
    const entries = Object.entries({ ...set, ...leaves }).map(
      ([leaf, value]) => [`CALLGATE_REDIS_SSL_${leaf}`, value] as const,
    );
    const problems = problemsOf({
      CALLGATE_REDIS_URL: "redis://one",
      ...Object.fromEntries(entries),
    });
    const remedy = "set the key of that certificate, and the passphrase of the key";
    expect(problems).toEqual(
      expected.map(
        (why) =>
          `CALLGATE_REDIS_SSL_KEY_FILE: redis.ssl.keyFile: does not match \`redis.ssl.certFile\`: ${why}; ${remedy}`,
      ),
    );
  });

  test("reports an unreadable passphrase once", () => {
    const folder = directory({ cert: CERTIFICATE, key: ENCRYPTED.toString() });
    const set = {
      CALLGATE_KAFKA_SSL_ENABLED: "true",
      CALLGATE_KAFKA_SSL_CERT_FILE: join(folder, "cert"),
      CALLGATE_KAFKA_SSL_KEY_FILE: join(folder, "key"),
      CALLGATE_KAFKA_SSL_PASSPHRASE_FILE: join(folder, "nowhere"),
    };
    expect(problemsOf(set)).toEqual([expect.stringMatching(/passphraseFile: .*ENOENT/)]);
  });
});

describe("unusable files", () => {
  const NOWHERE = {
    CALLGATE_KAFKA_SSL_ENABLED: "true",
    CALLGATE_KAFKA_SSL_CA_FILE: "/nowhere/ca.pem",
    CALLGATE_REGISTRY_URL: "https://one",
    CALLGATE_REGISTRY_SSL_CA_FILE: "/nowhere/ca.pem",
    CALLGATE_REDIS_URL: "redis://one",
    CALLGATE_REDIS_SSL_ENABLED: "true",
    CALLGATE_REDIS_SSL_CA_FILE: "/nowhere/ca.pem",
    CALLGATE_POLICY_FILES: "/nowhere/policy.yaml",
    CALLGATE_SECRET_VALUE: "hidden hidden hidden",
    CALLGATE_EXECUTOR_HANDLERS: "/nowhere/handlers.js",
  };
  const CONNECTIONS = ["kafka", "registry", "redis"].map(
    (of) =>
      `CALLGATE_${of.toUpperCase()}_SSL_CA_FILE: ${of}.ssl.caFile: \`/nowhere/ca.pem\` cannot be read: there is no such file; check the path`,
  );

  test("are reported together where they are missing and this process reads them", () => {
    expect(problemsOf(NOWHERE)).toEqual(CONNECTIONS);
    expect(problemsOf(NOWHERE, ["policy.files", "secret.value"])).toEqual([
      "CALLGATE_POLICY_FILES: policy.files.0: `/nowhere/policy.yaml` cannot be read: there is no such file; check the path",
      ...CONNECTIONS,
    ]);
    expect(problemsOf(NOWHERE, ["executor.handlers"])).toEqual([
      "CALLGATE_EXECUTOR_HANDLERS: executor.handlers: `/nowhere/handlers.js` cannot be read: there is no such file; check the path",
      ...CONNECTIONS,
    ]);
  });

  test("are reported where they have another content", () => {
    const folder = directory({ cert: CERTIFICATE, key: KEY });
    const set = {
      CALLGATE_KAFKA_SSL_ENABLED: "true",
      CALLGATE_KAFKA_SSL_CERT_FILE: join(folder, "key"),
      CALLGATE_KAFKA_SSL_KEY_FILE: join(folder, "cert"),
      CALLGATE_POLICY_FILES: folder,
      CALLGATE_SECRET_VALUE: "hidden hidden hidden",
    };
    expect(problemsOf(set, ["policy.files", "secret.value"])).toEqual([
      expect.stringMatching(
        /policy\.files\.0: `.*` cannot be read: it is a directory; check the path$/,
      ),
      expect.stringMatching(
        /kafka\.ssl\.certFile: `.*` has no certificate as PEM; check the path$/,
      ),
      expect.stringMatching(/kafka\.ssl\.keyFile: `.*` has no private key as PEM; check the path$/),
    ]);
  });
});
