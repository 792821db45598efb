import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startKafka } from "../../../infra/local/start-kafka.js";
import { localParts } from "../../support/backends/local-parts.ts";
import { createClusterKit } from "../../support/processes/cluster-kit.ts";

const parts = localParts(["kafka"]);

/** However long the executor needs to recover, a call must not be too old to start. */
const POLICY = "tool_schemas: {pay: {start_within_ms: 600000, time_limit_ms: 600000}}\n";
const CALL = { turn: 1, step: 1, tool: "pay" };
/** Slow enough that some run while the broker is gone. */
const counting = (file: string): string => `
import { appendFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
export const pay = async ({ order }) => {
  appendFileSync(${JSON.stringify(file)}, order + "\\n");
  await setTimeout(500);
  return "paid " + order;
};
`;

/** Starts a broker twice and two processes, beside everything else that runs. */
const WITHIN_MS = 600_000;

describe.skipIf(!parts.available)("a broker that is killed and restarted", () => {
  test(
    "loses no call and duplicates none",
    async () => {
      const kafka = await startKafka();
      onTestFinished(async () => {
        await kafka.stop();
      });
      const kit = await createClusterKit(kafka.bootstrap, { partitions: 2 });
      const gate = kit.startGate(POLICY);
      const file = join(gate.directory, "runs");
      const executor = kit.startExecutor(counting(file));
      const callgate = await kit.connect({ timeoutMs: 5_000 });
      await Promise.all([gate.ready(), executor.ready()]);

      const stop = new AbortController();
      const decided = new Map<string, string>();
      let asked = 0;
      const agent = async (conversationId: string): Promise<void> => {
        while (!stop.signal.aborted) {
          asked += 1;
          const order = String(asked);
          const call = { ...CALL, conversationId, callId: order, arguments: { order } };
          for (;;) {
            const { outcome, decisionId, refusal } = await callgate.propose(call);
            // The call was not recorded: ask again under its id.
            if (refusal?.reason === "gate_unavailable") continue;
            expect(outcome).toBe("allowed");
            decided.set(order, decisionId ?? "");
            break;
          }
        }
      };
      const agents = ["1", "2", "3", "4"].map(agent);
      await expect.poll(() => decided.size, { timeout: WITHIN_MS / 4 }).toBeGreaterThan(20);
      await kafka.brokers[0]?.restart();
      const before = decided.size;
      await expect
        .poll(() => decided.size, { timeout: WITHIN_MS / 2 })
        .toBeGreaterThan(before + 20);
      stop.abort();
      await Promise.all(agents);

      const results = await Promise.all(
        [...decided].map(async ([order, id]) => [order, await callgate.awaitResult(id)] as const),
      );
      const unsuccessful = results.filter(([, { status }]) => status !== "succeeded");
      expect(unsuccessful).toEqual([]);
      const runs = readFileSync(file, "utf8").trim().split("\n");
      expect(runs.toSorted()).toEqual([...decided.keys()].toSorted());
    },
    WITHIN_MS,
  );
});
