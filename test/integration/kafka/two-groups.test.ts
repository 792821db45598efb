// Gates of two groups decide one partition. Nothing fences them, so they must notice each other.
import { describe, expect, it, onTestFinished } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { loadWithout } from "../../support/edited-copy/gates-without.ts";
import { makeTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import {
  JOURNAL_RETENTION,
  Load,
  openTestGate,
  propose,
  readDecided,
  untilReady,
} from "../../support/kafka/test-gate.ts";
import { until } from "../../support/runtime-kit.ts";

const kafka = await kafkaBackend();

/** Starts two gates of two groups, which decide the same calls. */
async function startBoth(open = openTestGate) {
  const names = await makeTopics(kafka.brokers, { partitions: 1, config: JOURNAL_RETENTION });
  const log = await openTestLog(kafka.brokers, names);
  onTestFinished(() => log.close());
  const start = async () => {
    const gate = await open(kafka.brokers, names, { group: uniqueName("gates") });
    onTestFinished(() => gate.stop());
    await gate.host.start();
    return gate;
  };
  const gates = [await start(), await start()];
  await untilReady(...gates);
  const states = () => gates.flatMap((gate) => gate.host.status().partitions);
  return { log, states };
}

describe.skipIf(!kafka.available)(`two groups of gates on one journal ${kafka.reason}`, () => {
  it("stop deciding once they have read each other's records, and report why", async () => {
    const { log, states } = await startBoth();
    const load = new Load(log, 5, 20);
    await until(() => states().every(({ state }) => state === "closed"));
    await load.stop();
    expect(states().map(({ error }) => error?.code)).toEqual(["role_taken", "role_taken"]);
    expect(states()[0]?.error?.message).toContain("`kafka.group`");
  });

  it("stop where both commit at once, one call at a time", async () => {
    const { log, states } = await startBoth();
    for (let nth = 0; nth < 40 && !states().every(({ state }) => state === "closed"); nth += 1) {
      await propose(log, nth, 1);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    expect(states().map(({ error }) => error?.code)).toEqual(["role_taken", "role_taken"]);
  });

  it("without the check decide every call twice", async () => {
    type Opens = { readonly openTestGate: typeof openTestGate };
    const copy = await loadWithout<Opens>("soleWriter", "test-gate.ts");
    const { log, states } = await startBoth(copy.openTestGate);
    const load = new Load(log, 5, 20);
    await until(() => load.count >= 300);
    await load.stop();
    expect(states().map(({ state }) => state)).toEqual(["running", "running"]);
    await expect
      .poll(async () => (await readDecided(log)).problems.length, { timeout: 10_000 })
      .toBeGreaterThan(50);
  });
});
