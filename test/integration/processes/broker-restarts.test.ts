import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startKafka } from "../../../infra/local/start-kafka.js";
import { localParts } from "../../support/backends/local-parts.ts";
import { createClusterKit } from "../../support/processes/cluster-kit.ts";

const parts = localParts(["kafka"]);

/** However long the executor needs to find its way back, a call is not too old to be started. */
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

/** A broker is started twice, and so are two processes, beside everything else that runs. */
const WITHIN_MS = 600_000;

describe.skipIf(!parts.available)("a broker that is killed and comes back", () => {
  test(
    "costs no call and doubles none",
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
            // Nobody knows of the call: asked again under its id.
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
