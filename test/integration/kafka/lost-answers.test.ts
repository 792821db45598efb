// A batch whose request or answer is lost, at each step of its transaction.
import { describe, expect, it, onTestFinished } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { makeTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import {
  JOURNAL_RETENTION,
  openTestGate,
  propose,
  untilDecided,
  untilReady,
} from "../../support/kafka/test-gate.ts";
import { type Deed, KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";
import type { Api } from "../../support/kafka-proxy/wire.ts";
import { until } from "../../support/runtime-kit.ts";

const kafka = await kafkaBackend();

/** Longer than any answer takes on a busy machine. */
const PATIENT_MS = 60_000;
const IMPATIENT_MS = 3_000;

/** A gate behind a proxy, and a log without the proxy that shows what happened. */
async function makeWorld(transactionTimeoutMs: number) {
  const names = await makeTopics(kafka.brokers, { partitions: 1, config: JOURNAL_RETENTION });
  const log = await openTestLog(kafka.brokers, names);
  onTestFinished(() => log.close());
  const proxy = await KafkaProxy.start(kafka.brokers);
  onTestFinished(() => proxy.close());
  const counts = new Map<string, number>();
  const gate = await openTestGate(proxy.brokers, names, {
    group: uniqueName("gates"),
    counts,
    transactionTimeoutMs,
  });
  onTestFinished(() => gate.stop());
  await gate.host.start();
  await untilReady(gate);
  await propose(log, 0, 5);
  await untilDecided(log, 5);
  return { log, proxy, gate, counts };
}

async function strike(api: Api, deed: Deed, transactionTimeoutMs = PATIENT_MS) {
  const { log, proxy, gate, counts } = await makeWorld(transactionTimeoutMs);
  const takeOvers = counts.get("take_overs") ?? 0;
  const { struck } = proxy.arm({ api, deed });
  await propose(log, 5, 20);
  await struck;
  const { byCall, problems, proposals } = await untilDecided(log, 25);
  expect(problems).toEqual([]);
  expect(proposals).toBe(25);
  expect([...byCall.values()].filter((types) => types.length !== 1)).toEqual([]);
  await untilReady(gate);
  return { counts, gate, takeOvers: (counts.get("take_overs") ?? 0) - takeOvers };
}

describe.skipIf(!kafka.available)(`a gate whose answers get lost ${kafka.reason}`, () => {
  it("takes over again when the commit's answer is lost, and decides nothing twice", async () => {
    const { counts, takeOvers } = await strike("EndTxn", { type: "cut-after" });
    expect(counts.get("commits_unknown")).toBe(1);
    expect(takeOvers).toBeGreaterThanOrEqual(1);
  });

  it("takes over again when the commit never arrives", async () => {
    const { counts, takeOvers } = await strike("EndTxn", { type: "cut-before" });
    expect(counts.get("commits_unknown")).toBe(1);
    expect(takeOvers).toBeGreaterThanOrEqual(1);
  });

  it("takes over again when the commit's answer never comes", async () => {
    const { counts, gate } = await strike("EndTxn", { type: "swallow" }, IMPATIENT_MS);
    // The batch is visible before the gate stops waiting for the answer.
    await until(() => (counts.get("commits_unknown") ?? 0) >= 1);
    await untilReady(gate);
  });

  for (const api of [
    "AddOffsetsToTxn",
    "AddPartitionsToTxn",
    "TxnOffsetCommit",
    "Produce",
  ] as const) {
    it(`decides each call once when the connection breaks after ${api}`, async () => {
      const { counts } = await strike(api, { type: "cut-after" });
      expect(counts.get("commits_unknown") ?? 0).toBe(0);
    });
  }
});
