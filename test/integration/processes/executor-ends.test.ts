// The calls of an executor that ends.
import { describe, expect, test } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { createClusterKit } from "../../support/processes/cluster-kit.ts";

const kafka = await kafkaBackend();

const POLICY = "tool_schemas: {pay: {}}\n";
const CALL = { conversationId: "c1", turn: 1, step: 1, callId: "a", tool: "pay", arguments: {} };

describe.skipIf(!kafka.available)("an executor with a running call", () => {
  test("finishes it after an uncaught error, then exits with an error", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const gate = kit.startGate(POLICY);
    const executor = kit.startExecutor(`
      import { setTimeout } from "node:timers/promises";
      export const pay = async () => {
        void Promise.reject(new Error("left alone"));
        await setTimeout(1_000);
        return "paid";
      };
    `);
    const callgate = await kit.connect();
    await Promise.all([gate.ready(), executor.ready()]);
    const { decisionId = "" } = await callgate.propose(CALL);
    expect(await callgate.awaitResult(decisionId)).toMatchObject({ output: "paid" });
    expect(await executor.ended).toEqual({ code: 3, signal: null });
    const fatalLine = executor.lines.find(({ msg }) => msg === "the process cannot go on");
    expect(fatalLine?.["message"]).toContain("nobody caught an error: left alone");
    expect(executor.lines.at(-1)?.msg).toBe("stopped");
    expect(executor.stderr).not.toContain("left alone");
  });
});
