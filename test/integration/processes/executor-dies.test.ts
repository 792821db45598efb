import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { createClusterKit } from "../../support/processes/cluster-kit.ts";

const kafka = await kafkaBackend();

/** However long an executor needs to take over, a call must not be too old to start. */
const POLICY = "tool_schemas: {pay: {start_within_ms: 600000}, look: {read_only: true}}\n";
const CALL = { conversationId: "c1", turn: 1, step: 1, callId: "a", tool: "pay" };
/** Never ends, and ignores its abort signal. */
const STUCK = "export const pay = () => new Promise(() => {});";
const PAYS = "export const pay = ({ order }) => 'paid ' + order;";

describe.skipIf(!kafka.available)("an executor that ends while a call runs", () => {
  test("leaves the outcome unknown if it is killed, and the call does not run again by itself", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const gate = kit.startGate(POLICY);
    const callgate = await kit.connect();
    const first = kit.startExecutor(STUCK);
    await Promise.all([gate.ready(), first.ready()]);
    const begun = await callgate.propose({ ...CALL, arguments: { order: "7" } });
    await expect
      .poll(async () => (await first.get("/metrics")).text())
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

  test("waits for the call within its time if it is asked to end, then reports unknown, and exits with an error", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const gate = kit.startGate(POLICY);
    const callgate = await kit.connect();
    const executor = kit.startExecutor(STUCK, { shutdownMs: 25_000 });
    await Promise.all([gate.ready(), executor.ready()]);
    const begun = await callgate.propose({ ...CALL, arguments: { order: "7" } });
    await expect
      .poll(async () => (await executor.get("/metrics")).text())
      .toContain('executor_reports_total{status="started"');
    executor.child.kill("SIGTERM");
    expect(await executor.ended).toEqual({ code: 3, signal: null });
    expect(executor.lines.at(-1)?.msg).toBe("stopped, and interrupted what was under way");
    expect(await callgate.awaitResult(begun.decisionId ?? "")).toMatchObject({ status: "unknown" });
  });

  test("ends at once on a second signal", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const gate = kit.startGate(POLICY);
    const callgate = await kit.connect();
    const executor = kit.startExecutor(STUCK, { shutdownMs: 60_000 });
    await Promise.all([gate.ready(), executor.ready()]);
    await callgate.propose({ ...CALL, arguments: { order: "7" } });
    await expect
      .poll(async () => (await executor.get("/metrics")).text())
      .toContain('executor_reports_total{status="started"');
    executor.child.kill("SIGTERM");
    await executor.line("stopping");
    const ready = await executor.get("/readyz");
    expect(await ready.json()).toEqual({ ok: false, state: "stopping" });
    executor.child.kill("SIGTERM");
    expect(await executor.ended).toEqual({ code: null, signal: "SIGTERM" });
  });
});

/** Records each run where all executors of the test can see it. */
const counting = (file: string): string => `
import { appendFileSync } from "node:fs";
export const pay = async ({ order }) => {
  appendFileSync(${JSON.stringify(file)}, order + "\\n");
  return "paid " + order;
};
`;

describe.skipIf(!kafka.available)("executors of one group", () => {
  test("run each call once, even when one sleeps beyond its session and wakes up", async () => {
    const kit = await createClusterKit(kafka.brokers, { partitions: 3 });
    const gate = kit.startGate(POLICY);
    const file = join(gate.directory, "runs");
    const callgate = await kit.connect();
    const first = kit.startExecutor(counting(file));
    await Promise.all([gate.ready(), first.ready()]);
    const orders: string[] = [];
    /** One call in each of some conversations, so that every partition has some. */
    const proposeAll = async (round: string): Promise<readonly string[]> =>
      Promise.all(
        ["1", "2", "3", "4", "5", "6", "7", "8"].map(async (conversationId) => {
          const order = `${round}-${conversationId}`;
          orders.push(order);
          const call = { ...CALL, conversationId, callId: round, arguments: { order } };
          return (await callgate.propose(call)).decisionId ?? "";
        }),
      );
    const expectAllSucceeded = async (ids: readonly string[]): Promise<void> => {
      const results = await Promise.all(ids.map((id) => callgate.awaitResult(id)));
      expect(results.map(({ status }) => status)).toEqual(ids.map(() => "succeeded"));
    };
    await expectAllSucceeded(await proposeAll("alone"));

    const second = kit.startExecutor(counting(file));
    await second.ready();
    await expectAllSucceeded(await proposeAll("two"));

    first.child.kill("SIGSTOP");
    // The second executor owns all partitions once the group has noticed.
    const has = async (): Promise<number> => {
      const ready = await (await second.get("/readyz")).json();
      return (ready as { readonly partitions: readonly unknown[] }).partitions.length;
    };
    await expect.poll(has).toBe(3);
    await second.ready();
    const asleep = await proposeAll("asleep");
    first.child.kill("SIGCONT");
    await expectAllSucceeded(asleep);
    await first.ready();
    await expectAllSucceeded(await proposeAll("awake"));
    const runs = readFileSync(file, "utf8").trim().split("\n");
    expect(runs.toSorted()).toEqual(orders.toSorted());
  });
});
