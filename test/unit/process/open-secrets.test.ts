import { describe, expect, test } from "vitest";
import { loadConfig } from "../../../services/adapters/config/load-config.ts";
import { maskedConfig } from "../../../services/adapters/config/masked-config.ts";
import { hasSecrets, keyIdAt, openSecrets } from "../../../services/process/open-secrets.ts";

const FROM = "2026-12-01T09:00:00Z";
const FROM_MS = Date.parse(FROM);
const OLD = "the old secret, which is long enough";
const NEW = "the new secret, which is long enough";
const OLD_ENTRY = { id: "old", value: OLD };
const NEW_ENTRY = { id: "new", value: NEW, from: FROM };

function load(secrets: readonly object[], more: Readonly<Record<string, string>> = {}) {
  const variables = new Map([
    ["CALLGATE_KAFKA_BROKERS", "one:1"],
    ["CALLGATE_SECRETS", JSON.stringify(secrets)],
    ...Object.entries(more),
  ]);
  return loadConfig({ file: undefined, variables, needs: ["secret.value"] });
}

function configOf(secrets: readonly object[]) {
  const result = load(secrets);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.config;
}

function messagesOf(...args: Parameters<typeof load>): readonly string[] {
  const result = load(...args);
  return result.ok ? [] : result.problems.map(({ key, message }) => `${key} ${message}`);
}

describe("several secrets", () => {
  test("are all valid, and the latest that has begun makes keys", () => {
    const config = configOf([NEW_ENTRY, OLD_ENTRY]);
    expect(hasSecrets(config)).toBe(true);
    const { store, timed } = openSecrets(config, FROM_MS - 1);
    expect(timed.map(({ id }) => id)).toEqual(["old", "new"]);
    expect(store.fingerprints.size).toBe(2);
    const [old = "", newer = ""] = timed.map(({ keyId }) => keyId);
    expect(store.currentKeyId).toBe(old);
    expect(keyIdAt(timed, FROM_MS)).toBe(newer);
    expect(openSecrets(config, FROM_MS).store.currentKeyId).toBe(newer);
    store.use(newer);
    expect(store.currentKeyId).toBe(newer);
  });

  test("are never printed", () => {
    const text = JSON.stringify(maskedConfig(configOf([OLD_ENTRY, NEW_ENTRY])));
    expect(text).toContain('"id":"old"');
    expect(text).not.toContain("long enough");
  });

  test.each([
    [
      "no secret from the start",
      [NEW_ENTRY],
      "secrets has no secret that is in force from the start",
    ],
    [
      "one id twice",
      [OLD_ENTRY, { ...NEW_ENTRY, id: "old" }],
      "secrets.1 has the same `id` as secret 1 of the list",
    ],
    [
      "one time twice",
      [OLD_ENTRY, { id: "b", value: NEW }],
      "secrets.1 has the same `from` as secret 1 of the list",
    ],
    ["no value", [{ id: "old" }], "secrets.0 has no value"],
    [
      "a short value",
      [{ id: "old", value: "short" }],
      "secrets.0 the secret has 5 bytes: use at least 16",
    ],
    [
      "a value and a file",
      [{ ...OLD_ENTRY, valueFile: "/nowhere" }],
      "secrets.0.valueFile is set together with `value`",
    ],
    [
      "a missing file",
      [{ id: "old", valueFile: "/nowhere" }],
      "secrets.0.valueFile `/nowhere` cannot be read (ENOENT)",
    ],
    ["no time", [OLD_ENTRY, { ...NEW_ENTRY, from: "soon" }], "secrets.1.from must be a time"],
  ])("are refused with %s", (_, secrets, message) => {
    expect(messagesOf(secrets)).toContain(message);
  });

  test("are refused beside `secret`, and in a variable that is no list", () => {
    const value = { CALLGATE_SECRET_VALUE: OLD };
    expect(messagesOf([OLD_ENTRY], value)).toEqual(["secrets is set together with `secret`"]);
    const text = { CALLGATE_SECRETS: "one,two" };
    expect(messagesOf([], text)).toContain("secrets must be a list of maps in JSON");
  });
});
