import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { configOf } from "../../../services/adapters/config/load-config.ts";
import { kafkaSettings, topicNamesOf } from "../../../services/process/kafka-settings.ts";
import { CERTIFICATE, KEY } from "../../support/tls/fixed-pair.ts";

function configure(kafka: object) {
  const result = configOf({ kafka: { brokers: ["one:1"], ...kafka } }, "test");
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.config;
}

test("TLS and SASL are off where the configuration names neither", () => {
  expect(kafkaSettings(configure({}))).toMatchObject({ brokers: ["one:1"], ssl: null, sasl: null });
});

test("TLS trusts the authorities of a file in addition to the system's", () => {
  const directory = mkdtempSync(join(tmpdir(), "callgate-pem-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const write = (name: string, text: string): string => {
    const file = join(directory, name);
    writeFileSync(file, text);
    return file;
  };
  const ssl = {
    enabled: true,
    caFile: write("ca", "-----BEGIN CERTIFICATE-----\ntext of ca"),
    certFile: write("cert", CERTIFICATE),
    keyFile: write("key", KEY),
  };
  const settings = kafkaSettings(
    configure({ ssl: { ...ssl, passphrase: "opens", serverName: "kafka" } }),
  );
  expect(settings.ssl).toMatchObject({
    cert: CERTIFICATE,
    key: KEY,
    passphrase: "opens",
    serverName: "kafka",
  });
  const [ca = ""] = settings.ssl?.ca ?? [];
  expect(ca.endsWith("text of ca")).toBe(true);
  expect(ca.startsWith(rootCertificates[0] ?? "none")).toBe(true);
});

test("an error names the key of a file that was deleted after the configuration was checked", () => {
  const directory = mkdtempSync(join(tmpdir(), "callgate-pem-"));
  const caFile = join(directory, "ca.pem");
  writeFileSync(caFile, "-----BEGIN CERTIFICATE-----\n");
  const config = configure({ ssl: { enabled: true, caFile } });
  rmSync(directory, { recursive: true });
  expect(() => kafkaSettings(config)).toThrow(/^kafka\.ssl\.caFile: cannot be read: ENOENT/);
});

test("credentials are passed on, and topics may have names of their own", () => {
  const sasl = { mechanism: "scram-sha-512", username: "me", password: "hidden" };
  const config = configure({ sasl, topicPrefix: "ours", topics: { decisions: "journal" } });
  expect(kafkaSettings(config).sasl).toEqual(sasl);
  expect(topicNamesOf(config)).toMatchObject({
    proposals: "ours.proposed.v1",
    decisions: "journal",
  });
});
