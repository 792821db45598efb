// A broker that requires TLS and SASL: which clients connect, and the errors of the others.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { LocalKafka } from "../../../infra/local/start-kafka.js";
import type { KafkaSettings } from "../../../services/adapters/kafka/client.ts";
import { FatalError } from "../../../services/runtime/errors.ts";
import { localParts } from "../../support/backends/local-parts.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { PASSWORD, startSecuredKafka, USER } from "../../support/kafka/secured-kafka.ts";
import { makeTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import {
  JOURNAL_RETENTION,
  openTestGate,
  propose,
  untilDecided,
} from "../../support/kafka/test-gate.ts";
import { createTestLogger, type LoggedLine } from "../../support/runtime-kit.ts";
import { makeCertificate } from "../../support/tls/certificate.ts";

const parts = localParts(["kafka"]);
const certificate = parts.available ? makeCertificate() : undefined;
const WRONG = "not the pass phrase of this user";

describe.skipIf(certificate === undefined)(`a broker with TLS and SASL ${parts.reason}`, () => {
  const ca = [certificate?.cert ?? ""];
  let kafka: LocalKafka;

  beforeAll(async () => {
    if (certificate === undefined) return;
    kafka = await startSecuredKafka(certificate);
  });
  afterAll(async () => kafka.stop());

  const secured = (
    mechanism: NonNullable<KafkaSettings["sasl"]>["mechanism"],
    password = PASSWORD,
  ): Partial<KafkaSettings> => ({
    ssl: { ca },
    sasl: { mechanism, username: USER, password },
  });

  it.each(["plain", "scram-sha-256", "scram-sha-512"] as const)(
    "accepts a gate with %s, which decides calls",
    async (mechanism) => {
      const settings = secured(mechanism);
      const names = await makeTopics(kafka.directBootstrap, {
        partitions: 1,
        config: JOURNAL_RETENTION,
      });
      const log = await openTestLog(kafka.bootstrap, names, { settings });
      onTestFinished(() => log.close());
      const gate = await openTestGate(kafka.bootstrap, names, {
        group: uniqueName("gates"),
        settings,
      });
      onTestFinished(() => gate.stop());
      await gate.host.start();
      await propose(log, 0, 10);
      expect((await untilDecided(log, 10)).problems).toEqual([]);
    },
  );

  const refusals: readonly (readonly [string, Partial<KafkaSettings>, RegExp])[] = [
    ["a wrong password", secured("scram-sha-512", WRONG), /check the user name, the password/],
    ["a wrong plain password", secured("plain", WRONG), /check the user name, the password/],
    [
      "a certificate that it does not trust",
      { ...secured("plain"), ssl: {} },
      /certificate is not trusted: set `kafka\.ssl\.caFile`/,
    ],
    [
      "a certificate of another name",
      { ...secured("plain"), ssl: { ca, serverName: "elsewhere.example" } },
      /for another name: .*`kafka\.ssl\.serverName`/,
    ],
  ];

  it.each(refusals)(
    "tells a gate with %s what to fix, without a secret in the message",
    async (_, settings, remedy) => {
      const lines: LoggedLine[] = [];
      const names = await makeTopics(kafka.directBootstrap);
      const opening = openTestGate(kafka.bootstrap, names, {
        group: uniqueName("gates"),
        settings,
        logger: createTestLogger(lines),
      });
      const error: unknown = await opening.catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(FatalError);
      expect(String(error)).toMatch(remedy);
      const output = `${String(error)}${JSON.stringify(lines)}`;
      expect(output).not.toContain(PASSWORD);
      expect(output).not.toContain(WRONG);
    },
  );

  it("reports SASL credentials for a listener without SASL", async () => {
    const names = await makeTopics(kafka.directBootstrap);
    const settings = { ...secured("plain"), ssl: null };
    const opening = openTestGate(kafka.directBootstrap, names, { group: "g", settings });
    await expect(opening).rejects.toThrow("does not use SASL");
  });
});
