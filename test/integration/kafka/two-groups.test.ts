// Gates that do not know of each other decide one partition: nothing fences them, so they must notice.
import { describe, expect, it, onTestFinished } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { makeTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import {
  KEPT,
  Load,
  openTestGate,
  readDecided,
  untilReady,
} from "../../support/kafka/test-gate.ts";
import { until } from "../../support/runtime-kit.ts";

const kafka = await kafkaBackend();

/** Two gates of two groups, and a load that both decide. */
async function startBoth(soleWriter: boolean) {
  const names = await makeTopics(kafka.brokers, { partitions: 1, config: KEPT });
  const log = await openTestLog(kafka.brokers, names);
  onTestFinished(() => log.close());
  const open = async () => {
    const choices = { group: uniqueName("gates"), safeguards: { kafka: { soleWriter } } };
    const gate = await openTestGate(kafka.brokers, names, choices);
    onTestFinished(() => gate.stop());
    await gate.host.start();
    return gate;
  };
  const gates = [await open(), await open()];
  await untilReady(...gates);
  const states = () => gates.flatMap((gate) => gate.host.status().partitions);
  return { log, states, load: new Load(log, 5, 20) };
}

describe.skipIf(!kafka.available)(`two groups of gates on one journal ${kafka.reason}`, () => {
  it("stop deciding once they have seen each other's records, and say what is wrong", async () => {
    const { states, load } = await startBoth(true);
    await until(() => states().some(({ state }) => state === "closed"));
    await load.stop();
    const closed = states().filter(({ state }) => state === "closed");
    expect(closed.map(({ error }) => error?.code)).toEqual(closed.map(() => "role_taken"));
    expect(closed[0]?.error?.message).toContain("`kafka.group`");
  });

  it("would decide every call twice for good where they do not look", async () => {
    const { log, states, load } = await startBoth(false);
    await until(() => load.count >= 300);
    await load.stop();
    expect(states().map(({ state }) => state)).toEqual(["running", "running"]);
    await expect
      .poll(async () => (await readDecided(log)).problems.length, { timeout: 10_000 })
      .toBeGreaterThan(50);
  });
});
