import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { connectKafka } from "../../support/kafka/test-cluster.ts";
import { createClusterKit } from "../../support/processes/cluster-kit.ts";

const kafka = await kafkaBackend();

const POLICY = `
tool_schemas:
  pay: {idempotency_argument: key}
  look: {read_only: true}
`;

const HANDLERS = `
let paid = 0;
export const handlers = {
  pay: ({ order, key }, { idempotencyKey }) => {
    if (order === "bad") throw Object.assign(new Error("declined"), { code: "402" });
    paid += 1;
    return { paid, order, sameKey: key === idempotencyKey };
  },
};
`;

const DAY_MS = 86_400_000;
/** `ConfigResourceTypes.TOPIC` of kafkajs. */
const TOPIC = 2;

const CALL = { conversationId: "c1", turn: 1, step: 1, callId: "a", tool: "pay" };

describe.skipIf(!kafka.available)("gate, executor and agent on a cluster", () => {
  test("decide a call, run it elsewhere, and return its result", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const gate = kit.startGate(POLICY);
    const executor = kit.startExecutor(HANDLERS);
    const callgate = await kit.connect();
    await Promise.all([gate.ready(), executor.ready()]);

    const decision = await callgate.propose({ ...CALL, arguments: { order: "7", key: "mine" } });
    expect(decision).toMatchObject({ outcome: "allowed", repeated: false });
    const id = decision.decisionId ?? "";
    expect(await callgate.awaitResult(id)).toMatchObject({
      decisionId: id,
      status: "succeeded",
      output: { paid: 1, order: "7", sameKey: true },
      whole: true,
    });

    // The same call id again is the same decision, and does not run again.
    const again = await callgate.propose({ ...CALL, arguments: { order: "7", key: "mine" } });
    expect(again).toMatchObject({ outcome: "allowed", repeated: true, decisionId: id });
    // The same call under another id is a duplicate.
    const twice = await callgate.propose({
      ...CALL,
      step: 2,
      callId: "b",
      arguments: { order: "7" },
    });
    expect(twice).toMatchObject({ outcome: "refused", refusal: { reason: "duplicate_call" } });
    await expect(callgate.awaitResult(twice.decisionId ?? "")).rejects.toMatchObject({
      code: "invalid_input",
    });
    const bad = await callgate.propose({
      ...CALL,
      step: 3,
      callId: "c",
      arguments: { order: "bad" },
    });
    expect(await callgate.awaitResult(bad.decisionId ?? "")).toMatchObject({ status: "failed" });

    // A client that was not connected at the time finds it in the journal.
    const late = await kit.connect();
    expect(await late.awaitResult(id)).toMatchObject({ status: "succeeded" });
    expect(gate.lines.filter(({ level }) => level === "error")).toEqual([]);
    expect(gate.lines).toContainEqual(
      expect.objectContaining({
        msg: "journaled",
        conversationId: "c1",
        callId: "a",
        decisionId: id,
      }),
    );
    const numbers = await (await executor.get("/metrics")).text();
    const reports = 'callgate_executor_reports_total{status="succeeded",service="executor"} 1';
    expect(numbers).toContain(reports);

    for (const running of [executor, gate]) {
      running.child.kill("SIGTERM");
      expect(await running.ended).toEqual({ code: 0, signal: null });
      expect(running.lines.at(-1)?.msg).toBe("stopped");
    }
  });

  test("keep earlier decisions when another gate takes over", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const callgate = await kit.connect();
    // Nobody decides yet: that is no permission.
    const alone = await kit.connect({ timeoutMs: 500 });
    const early = await alone.propose({ ...CALL, arguments: { order: "1" } });
    expect(early).toMatchObject({
      outcome: "refused",
      refusal: { reason: "gate_unavailable", detail: "timeout" },
    });

    const first = kit.startGate(POLICY);
    await first.ready();
    const asked = await callgate.propose({ ...CALL, arguments: { order: "1" } });
    expect(asked).toMatchObject({ outcome: "allowed", repeated: true });
    first.child.kill("SIGKILL");
    await first.ended;
    const second = kit.startGate(POLICY);
    await second.ready();
    const again = await callgate.propose({ ...CALL, arguments: { order: "1" } });
    expect(again).toMatchObject({ repeated: true, decisionId: asked.decisionId });
    await callgate.report(asked.decisionId ?? "", { status: "succeeded", output: "paid" });
    expect(await callgate.awaitResult(asked.decisionId ?? "")).toMatchObject({ output: "paid" });
  });

  test("retry a possible write under its key, with another gate and executor in a later turn", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const callgate = await kit.connect();
    const gate = kit.startGate(POLICY);
    const keys = join(gate.directory, "keys");
    const handlers = `
import { appendFileSync, readFileSync } from "node:fs";
export const handlers = {
  pay: ({ order, key }) => {
    appendFileSync(${JSON.stringify(keys)}, order + " " + key + "\\n");
    const runs = readFileSync(${JSON.stringify(keys)}, "utf8").split("\\n").length - 1;
    if (runs === 1) throw new Error("connection reset");
    return { runs };
  },
};
`;
    const pay = async (turn: number, callId: string, order: string) => {
      // The model makes up a key for each try; the tool gets that of the gate in its place.
      const call = { ...CALL, turn, callId, arguments: { order, key: `made-up-${callId}` } };
      const { outcome, decisionId = "" } = await callgate.propose(call);
      expect(outcome).toBe("allowed");
      return callgate.awaitResult(decisionId);
    };
    const before = [gate, kit.startExecutor(handlers)];
    await Promise.all(before.map((one) => one.ready()));
    expect(await pay(1, "a", "1")).toMatchObject({ status: "failed", effect: "possible" });
    gate.child.kill("SIGKILL");
    before[1]?.child.kill("SIGTERM");
    await Promise.all(before.map((one) => one.ended));

    const after = [kit.startGate(POLICY), kit.startExecutor(handlers)];
    await Promise.all(after.map((one) => one.ready()));
    expect(await pay(2, "b", "1")).toMatchObject({ status: "succeeded", output: { runs: 2 } });
    expect(await pay(2, "c", "2")).toMatchObject({ status: "succeeded", output: { runs: 3 } });
    const runs = readFileSync(keys, "utf8").trim().split("\n");
    const [first, retry, other] = runs.map((line) => line.split(" "));
    expect(retry).toEqual(first);
    expect(other?.[1]).not.toBe(first?.[1]);
  });

  test("pass a held call's sensitive argument through another gate to the executor, and to nobody else", async () => {
    const policy = `
authorization: { tiers: [{ name: ask, pattern: pay, action: hitl, expires_ms: 600000 }] }
tool_schemas: { pay: { sensitive: [order] } }
`;
    const order = "4111-2222-3333-4444";
    const kit = await createClusterKit(kafka.brokers);
    const first = kit.startGate(policy);
    const executor = kit.startExecutor(HANDLERS);
    const callgate = await kit.connect();
    const holder = await kit.connect({ secret: kit.config.secret.value });
    await Promise.all([first.ready(), executor.ready()]);
    const held = await callgate.propose({ ...CALL, arguments: { order } });
    expect(held).toMatchObject({ outcome: "held" });
    first.child.kill("SIGKILL");
    await first.ended;
    const second = kit.startGate(policy);
    await second.ready();
    await callgate.approve(held.approvalId ?? "", { by: "ann" });
    const id = held.decisionId ?? "";
    expect(await callgate.awaitResult(id)).toMatchObject({ output: { paid: 1, order } });
    // A client with the secret can run it; one without sees a digest, and no key.
    expect(await holder.awaitDecision(id)).toMatchObject({ arguments: { order } });
    const shown = await callgate.awaitDecision(id);
    expect(shown.arguments).toEqual({ order: expect.stringMatching(/^sealed:/) });
    expect(shown.idempotencyKey).toBeUndefined();
    const logLines = [first, second, executor].flatMap(({ lines }) =>
      lines.map((line) => JSON.stringify(line)),
    );
    expect(logLines.filter((line) => line.includes(order))).toEqual([]);
  });

  test("guard the agent's own tools with the gate's secret", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const gate = kit.startGate(POLICY);
    const callgate = await kit.connect({ secret: kit.config.secret.value });
    await gate.ready();
    const keys: string[] = [];
    const { pay } = callgate.guard(
      {
        pay: ({ key }: { order: string; key?: string }) => {
          keys.push(key ?? "");
          return "paid";
        },
      },
      { conversationId: "c1", turn: 1 },
    );
    expect(await pay({ order: "7" }, { step: 1 })).toBe("paid");
    expect(await pay({ order: "7" }, { step: 2 })).toMatchObject({ reason: "duplicate_call" });
    expect(keys).toEqual([expect.stringMatching(/^\S{20,}$/)]);
  });

  test("apply a changed policy, and reject an invalid one", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const gate = kit.startGate(POLICY);
    const callgate = await kit.connect();
    await gate.ready();
    const outcomeOf = async (callId: string) => {
      const call = { ...CALL, callId, arguments: { order: callId } };
      const { outcome, refusal } = await callgate.propose(call);
      return refusal?.reason ?? outcome;
    };
    expect(await outcomeOf("1")).toBe("allowed");
    const before = await (await gate.get("/metrics")).text();
    expect(before).toContain('callgate_policy_loads_total{outcome="refused",service="gate"} 0');

    const policy = join(gate.directory, "policy.yaml");
    writeFileSync(policy, "tool_schemas: 5\n");
    await expect
      .poll(() => gate.lines.map(({ msg }) => msg))
      .toContain("goes on with the previous policy");
    expect(gate.lines).toContainEqual(
      expect.objectContaining({ problem: expect.stringContaining("policy.yaml:1:15") }),
    );
    expect(await outcomeOf("2")).toBe("allowed");
    const numbers = await (await gate.get("/metrics")).text();
    expect(numbers).toContain('callgate_policy_loads_total{outcome="refused",service="gate"} 1');

    writeFileSync(policy, `${POLICY}kill: {tools: [pay]}\n`);
    gate.child.kill("SIGHUP");
    await gate.line("decides by another policy");
    expect(await outcomeOf("3")).not.toBe("allowed");
  });

  test("reject a policy that needs a longer retention of the journal, until it has it", async () => {
    const makeRetention = (days: number) => ({
      name: "retention.ms",
      value: String(days * DAY_MS),
    });
    const kit = await createClusterKit(kafka.brokers, {
      config: { "retention.ms": makeRetention(10).value },
    });
    const files = ["policy.yaml"];
    const gate = kit.startGate(POLICY, { policy: { files, watch: false } });
    const callgate = await kit.connect();
    await gate.ready();
    const outcomeOf = async (callId: string) =>
      (await callgate.propose({ ...CALL, callId, arguments: { order: callId } })).outcome;
    const longer = `${POLICY}kill: {tools: [pay]}\nconversation: {max_age_ms: ${30 * DAY_MS}}\n`;
    writeFileSync(join(gate.directory, "policy.yaml"), longer);
    gate.child.kill("SIGHUP");
    await gate.line("goes on with the previous policy");
    const { problem } = await gate.line("the new policy was not accepted");
    const journal = kit.config.kafka.topics.decisions;
    const expectedProblem = `\`${journal}\` is kept for ${10 * DAY_MS} ms and the policy needs `;
    expect(problem).toContain(expectedProblem);
    expect(problem).toMatch(/set its retention\.ms to \d+ or more, or shorten those times/);
    expect(await outcomeOf("1")).toBe("allowed");
    await gate.ready();

    const admin = connectKafka(kafka.brokers).admin();
    await admin.connect();
    onTestFinished(() => admin.disconnect());
    const logTime = { name: "message.timestamp.type", value: "LogAppendTime" };
    const resource = { type: TOPIC, name: journal, configEntries: [logTime, makeRetention(40)] };
    await admin.alterConfigs({ validateOnly: false, resources: [resource] });
    // One of several brokers may not have the change yet.
    await expect
      .poll(
        () => {
          gate.child.kill("SIGHUP");
          return gate.lines.map(({ msg }) => msg);
        },
        { interval: 500 },
      )
      .toContain("decides by another policy");
    expect(await outcomeOf("2")).toBe("refused");
  });

  test("reject unsuitable topics with the remedy", async () => {
    const kit = await createClusterKit(kafka.brokers, { config: { "retention.ms": "60000" } });
    const short = kit.startGate(POLICY);
    expect((await short.ended).code).toBe(3);
    expect(short.stderr).toMatch(/is kept for 60000 ms .* set its retention\.ms to \d+/);
    const elsewhere = { kafka: { ...kit.config.kafka, topics: {}, topicPrefix: "nowhere" } };
    const missing = kit.startGate(POLICY, elsewhere);
    expect((await missing.ended).code).toBe(3);
    expect(missing.stderr).toContain("`nowhere.proposed.v1` does not exist: create it with");
  });
});
