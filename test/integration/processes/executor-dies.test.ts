import { describe, expect, test } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { createClusterKit } from "../../support/processes/cluster-kit.ts";

const kafka = await kafkaBackend();

const POLICY = "tool_schemas: {pay: {}, look: {read_only: true}}\n";
const CALL = { conversationId: "c1", turn: 1, step: 1, callId: "a", tool: "pay" };
/** Never ends, and does not care for the time being over. */
const STUCK = "export const pay = () => new Promise(() => {});";
const PAYS = "export const pay = ({ order }) => 'paid ' + order;";

describe.skipIf(!kafka.available)("an executor that ends while a call runs", () => {
  test("killed: nobody knows what came of the call, and it does not run again by itself", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const gate = kit.startGate(POLICY);
    const callgate = await kit.connect();
    const first = kit.startExecutor(STUCK);
    await Promise.all([gate.ready(), first.ready()]);
    const begun = await callgate.propose({ ...CALL, arguments: { order: "7" } });
    await expect
      .poll(async () => (await first.get("/metrics")).text(), { timeout: 10_000 })
      .toContain('executor_reports_total{status="started"');
    first.child.kill("SIGKILL");
    await first.ended;

    kit.startExecutor(PAYS);
    const result = await callgate.awaitResult(begun.decisionId ?? "", { timeoutMs: 60_000 });
    expect(result).toMatchObject({ status: "unknown", output: undefined });
    const again = { ...CALL, step: 2, callId: "b", arguments: { order: "7" } };
    expect((await callgate.propose(again)).refusal?.reason).toBe("outcome_unknown");
    const other = { ...CALL, step: 3, callId: "c", arguments: { order: "8" } };
    const paid = await callgate.propose(other);
    expect(await callgate.awaitResult(paid.decisionId ?? "")).toMatchObject({ output: "paid 8" });
  });

  test("asked to end: waits for the call within its time, then tells that nobody knows", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const gate = kit.startGate(POLICY);
    const callgate = await kit.connect();
    const executor = kit.startExecutor(STUCK, { shutdownMs: 3_000 });
    await Promise.all([gate.ready(), executor.ready()]);
    const begun = await callgate.propose({ ...CALL, arguments: { order: "7" } });
    await expect
      .poll(async () => (await executor.get("/metrics")).text(), { timeout: 10_000 })
      .toContain('executor_reports_total{status="started"');
    executor.child.kill("SIGTERM");
    expect(await executor.ended).toEqual({ code: 0, signal: null });
    expect(await callgate.awaitResult(begun.decisionId ?? "")).toMatchObject({ status: "unknown" });
  });

  test("a second signal ends it at once", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const gate = kit.startGate(POLICY);
    const callgate = await kit.connect();
    const executor = kit.startExecutor(STUCK, { shutdownMs: 60_000 });
    await Promise.all([gate.ready(), executor.ready()]);
    await callgate.propose({ ...CALL, arguments: { order: "7" } });
    await expect
      .poll(async () => (await executor.get("/metrics")).text(), { timeout: 10_000 })
      .toContain('executor_reports_total{status="started"');
    executor.child.kill("SIGTERM");
    await executor.line("stopping");
    const ready = await executor.get("/readyz");
    expect(await ready.json()).toEqual({ ok: false, state: "stopping" });
    executor.child.kill("SIGTERM");
    expect(await executor.ended).toEqual({ code: null, signal: "SIGTERM" });
  });
});
