// The steps of docs/recovery.md, "Rotate the secret", on a cluster with a gate as a process.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { createClusterKit } from "../../support/processes/cluster-kit.ts";
import { runCallgate } from "../../support/run-callgate.ts";

const kafka = await kafkaBackend();

const POLICY = "tool_schemas: { pay: {} }\n";
const OLD = "the old secret, which is long enough";
const NEW = "the new secret, which is long enough";
const AHEAD_MS = 12_000;
const HOUR_MS = 3_600_000;

const callOf = (order: string, step: number) => ({
  ...{ conversationId: "c1", turn: 1, step, callId: `call-${order}-${step}`, tool: "pay" },
  arguments: { order },
});

describe.skipIf(!kafka.available)(`a gate with two secrets ${kafka.reason}`, () => {
  test("makes keys with the newer one from its time on, and keeps the keys of earlier calls", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const holder = await kit.connect({ secret: [NEW, OLD] });
    const first = kit.startGate(POLICY, { secret: { value: OLD } });
    await first.ready();
    const paid = await holder.propose(callOf("a", 1));
    await holder.report(paid.decisionId ?? "", {
      status: "failed",
      error: { message: "no answer" },
    });
    first.child.kill("SIGTERM");
    await first.ended;

    const bothFrom = (aheadMs: number) => ({
      secret: {},
      secrets: [
        { id: "old", value: OLD },
        { id: "new", value: NEW, from: new Date(Date.now() + aheadMs).toISOString() },
      ],
    });
    const both = bothFrom(AHEAD_MS);
    const second = kit.startGate(POLICY, both);
    await second.ready();
    const { keyId: oldId } = await second.line("decides by the policy");
    writeFileSync(
      join(second.directory, "doctor.json"),
      JSON.stringify({ ...kit.config, ...bothFrom(HOUR_MS) }),
    );
    const doctor = await runCallgate(["doctor", "--config", join(second.directory, "doctor.json")]);
    expect(doctor.stdout).toContain(`\`old\`, key id ${String(oldId)}: makes new keys`);
    expect(doctor.stdout).toMatch(/`new`, key id [0-9a-f]{16}: makes keys from /);

    const { keyId: newId } = await second.line("makes keys with another secret");
    expect(newId).not.toBe(oldId);
    const retried = await holder.propose(callOf("a", 2));
    expect(retried).toMatchObject({ outcome: "allowed", idempotencyKey: paid.idempotencyKey });
    const fresh = await holder.propose(callOf("b", 3));
    const withNew = await kit.connect({ secret: NEW });
    expect((await withNew.awaitDecision(fresh.decisionId ?? "")).idempotencyKey).toBe(
      fresh.idempotencyKey,
    );
    const withOld = await withNew.awaitDecision(retried.decisionId ?? "");
    expect(withOld.idempotencyKey).toBeUndefined();
    second.child.kill("SIGTERM");
    await second.ended;

    // Too early: the journal still needs the old one.
    const third = kit.startGate(POLICY, { secret: { value: NEW } });
    await expect.poll(() => third.get("/readyz").then((it) => it.text())).toContain(String(oldId));
    third.child.kill("SIGTERM");
    await third.ended;
    const again = kit.startGate(POLICY, both);
    await again.ready();
    expect(await holder.propose(callOf("b", 3))).toMatchObject({
      ...{ repeated: true, idempotencyKey: fresh.idempotencyKey },
    });
  });
});
