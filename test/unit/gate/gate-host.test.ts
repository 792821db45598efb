import { expect, onTestFinished, test, vi } from "vitest";
import { MemoryLog } from "../../../services/adapters/memory/memory-log.ts";
import { loadPolicy } from "../../../services/adapters/policy/load.ts";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import type { CompiledPolicy } from "../../../services/core/policy/compiled.ts";
import { capabilities } from "../../../services/gate/capabilities.ts";
import { journalKeepMs } from "../../../services/gate/gate-engine.ts";
import { GateHost } from "../../../services/gate/gate-host.ts";
import { compileGatePolicy, withSecret } from "../../../services/gate/gate-policy.ts";
import { FixedMembership, type Membership } from "../../../services/runtime/membership.ts";
import { partitionOf } from "../../../services/runtime/partitioner.ts";
import type { Clock } from "../../../services/runtime/ports.ts";
import { noMetrics, quietLogger } from "../../../services/runtime/quiet-logger.ts";
import { createAvroCodec } from "../../../services/wire/codec.ts";
import { TestClock, until } from "../../support/runtime-kit.ts";

/** A gate of a group would run a fenced partition again within this time. */
const RESTARTED_MS = 1_500;
const KEY_ID = "k1";
const SECRETS = new Map([[KEY_ID, Buffer.from("a secret that is long enough for it")]]);

const ALONE: Membership = {
  assignment: { epoch: 0, partitions: [] },
  joined: false,
  isShared: true,
  failed: new Promise(() => undefined),
  join: () => Promise.resolve(),
  leave: () => Promise.resolve(),
};

/** Assigns the only partition. */
const OWNER: Membership = {
  ...ALONE,
  assignment: { epoch: 1, partitions: [0] },
  join: async (listener) => listener({ epoch: 1, partitions: [0] }),
};

function memoryLog(): MemoryLog {
  return new MemoryLog({ partitions: 1, clusterId: "one", nowMs: Date.now });
}

function hostWith(
  membership: Membership,
  clock: Clock,
  policy: CompiledPolicy,
  options: {
    readonly warmUp?: (signal: AbortSignal) => Promise<void>;
    readonly log?: MemoryLog;
  } = {},
): GateHost {
  const { warmUp, log = memoryLog() } = options;
  return new GateHost({
    ...{ log, ownership: log, checkpoints: null, clock, membership, policy },
    ...{ logger: quietLogger, metrics: noMetrics, keepMs: 0, tuning: {} },
    codec: createAvroCodec({ secrets: SECRETS }),
    ...(warmUp === undefined ? {} : { warmUp }),
  });
}

function lasting(maxAgeMs: number): CompiledPolicy {
  const document = { conversation: { max_age_ms: maxAgeMs, idle_ms: 3_600_000 } };
  const result = compileGatePolicy(loadPolicy(document), capabilities);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return withSecret(result.policy, KEY_ID, SECRETS).compiled;
}

test("a policy with longer conversations extends the journal's retention, and one with shorter ones does not shorten it", () => {
  const days = 86_400_000;
  const host = hostWith(ALONE, systemClock, lasting(2 * days));
  expect(host.keepMs).toBe(journalKeepMs(lasting(2 * days)));
  host.setPolicy(lasting(9 * days));
  expect(host.keepMs).toBe(journalKeepMs(lasting(9 * days)));
  host.setPolicy(lasting(days));
  expect(host.keepMs).toBe(journalKeepMs(lasting(9 * days)));
  expect(journalKeepMs(lasting(9 * days))).toBeGreaterThan(journalKeepMs(lasting(2 * days)));
});

test("on a log with several partitions, a policy with `scope: tenant` is refused at the start and later", () => {
  const log = new MemoryLog({ partitions: 2, clusterId: "one", nowMs: Date.now });
  const effects = [{ resource: "order/{id}", kind: "charge", scope: "tenant" }];
  const result = compileGatePolicy(
    loadPolicy({ tool_schemas: { pay: { effects } } }),
    capabilities,
  );
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  const scoped = withSecret(result.policy, KEY_ID, SECRETS).compiled;
  expect(() => hostWith(ALONE, systemClock, scoped, { log })).toThrow(/`scope: tenant`/);
  const host = hostWith(ALONE, systemClock, lasting(86_400_000), { log });
  const { keepMs } = host;
  expect(() => host.setPolicy(scoped)).toThrow(/`scope: tenant`/);
  expect(host.keepMs).toBe(keepMs);
  expect(() => hostWith(ALONE, systemClock, scoped).setPolicy(scoped)).not.toThrow();
});

test("a gate joins after a while even if the group does not say which partitions to expect", async () => {
  let joined = 0;
  const unanswering: Membership = {
    ...ALONE,
    expected: () => new Promise(() => undefined),
    join: async () => {
      joined += 1;
    },
  };
  // Sleeps of this gate take no time.
  const host = hostWith(unanswering, new TestClock(), lasting(86_400_000));
  await host.start();
  expect(joined).toBe(1);
  await host.stop();
});

test("a gate warms up before it joins, and does not join if it is stopped meanwhile", async () => {
  const steps: string[] = [];
  const watched: Membership = {
    ...ALONE,
    join: async () => {
      steps.push("joined");
    },
  };
  const host = hostWith(watched, systemClock, lasting(86_400_000), {
    warmUp: async () => {
      steps.push("warm");
    },
  });
  await host.start();
  expect(steps).toEqual(["warm", "joined"]);
  await host.stop();

  const slow = hostWith(watched, systemClock, lasting(86_400_000), {
    warmUp: async (signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      steps.push("ended");
    },
  });
  const started = slow.start();
  await slow.stop();
  await started;
  expect(steps).toEqual(["warm", "joined", "ended"]);
});

test("each listener receives the records that are committed while it listens, once each", async () => {
  const log = memoryLog();
  const host = hostWith(OWNER, systemClock, lasting(86_400_000), { log });
  let calls = 0;
  const propose = async (): Promise<void> => {
    calls += 1;
    const call = { callId: `call-${calls}`, turn: "1", tool: "look", arguments: { calls } };
    const value = JSON.stringify({ tenantId: "t", conversationId: "c", ...call });
    await log.append([{ topic: "proposals", partition: 0, key: "t/c", value: Buffer.from(value) }]);
    await until(() => log.topics.recordedOffsets(0).proposals === calls);
  };
  const listen = (): { readonly received: number[]; readonly stop: () => void } => {
    const received: number[] = [];
    const stop = host.onCommitted((records, partition) => {
      expect(partition).toBe(0);
      received.push(...records.map(({ record }) => record.seq));
    });
    return { received, stop };
  };
  await host.start();
  await until(() => host.status().partitions[0]?.state === "running");
  await propose();
  const first = listen();
  const second = listen();
  await propose();
  await until(() => first.received.length > 0 && second.received.length > 0);
  first.stop();
  second.stop();
  const third = listen();
  await propose();
  await until(() => third.received.length > 0);
  await host.stop();
  expect([first.received, second.received, third.received]).toEqual([[2], [2], [3]]);

  const early = hostWith(OWNER, systemClock, lasting(86_400_000), { log });
  const seqs: number[] = [];
  early.onCommitted((records) => seqs.push(...records.map(({ record }) => record.seq)));
  await early.start();
  await propose();
  await until(() => seqs.length > 0);
  await early.stop();
  expect(seqs).toEqual([4]);
});

/** A log whose tasks wait for new records, and that wakes them only when they are closed. */
class StuckLog extends MemoryLog {
  override waitForNew(...[, , signal]: Parameters<MemoryLog["waitForNew"]>): Promise<void> {
    return new Promise((resolve) => signal?.addEventListener("abort", () => resolve()));
  }
}

test("a running task that makes no turn for a minute ends its gate, which would keep the partition for ever (KAFKA-19)", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const log = new StuckLog({ partitions: 1, clusterId: "one", nowMs: Date.now });
  const host = hostWith(OWNER, systemClock, lasting(86_400_000), { log });
  let failed: Error | undefined;
  void host.failed.then((error) => {
    failed = error;
  });
  await host.start();
  await until(() => host.status().partitions[0]?.state === "running");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(failed).toBeUndefined();
  await vi.advanceTimersByTimeAsync(15_000);
  expect(failed?.message).toMatch(/the task of partition 0 made no turn for \d+ ms/);
  await host.stop();
});

test("a gate with a fixed membership runs every partition, and a fenced one stays closed (HOST-5)", async () => {
  const log = memoryLog();
  const membership = new FixedMembership(log.partitions);
  const host = hostWith(membership, systemClock, lasting(86_400_000), { log });
  expect(host.worstStatus().state).toBe("restoring");
  await host.start();
  await until(() => host.worstStatus().state === "running");
  const other = await log.takeOver(0);
  await log.append([{ topic: "proposals", partition: 0, key: "t/c", value: Buffer.from("{}") }]);
  await until(() => host.worstStatus().state === "closed");
  await new Promise((resolve) => setTimeout(resolve, RESTARTED_MS));
  expect(host.worstStatus()).toMatchObject({ state: "closed", detail: "not_owner" });
  await other.close();
  await host.stop();
  expect(host.worstStatus().state).toBe("closed");
});

test("the bound on conversations holds over all partitions of a gate", async () => {
  const log = new MemoryLog({ partitions: 2, clusterId: "two", nowMs: Date.now });
  const host = new GateHost({
    ...{ log, ownership: log, checkpoints: null, clock: systemClock, keepMs: 0, tuning: {} },
    ...{ logger: quietLogger, metrics: noMetrics, policy: lasting(86_400_000) },
    codec: createAvroCodec({ secrets: SECRETS }),
    membership: new FixedMembership(2),
    limits: { conversations: 3 },
  });
  onTestFinished(() => host.stop());
  const outcomes: (string | undefined)[] = [];
  host.onCommitted((records) => {
    for (const { record } of records) {
      const [event] = record.events;
      outcomes.push(event?.type === "refused" ? event.refusal.reason : event?.type);
    }
  });
  await host.start();
  const propose = async (conversationId: string): Promise<string | undefined> => {
    const key = `t/${conversationId}`;
    const call = { callId: "1", turn: null, tool: "look", arguments: {} };
    const value = Buffer.from(JSON.stringify({ tenantId: "t", conversationId, ...call }));
    const before = outcomes.length;
    await log.append([{ topic: "proposals", partition: partitionOf(key, 2), key, value }]);
    await until(() => outcomes.length > before);
    return outcomes.at(-1);
  };
  const [zero, one] = [0, 1].map((partition) =>
    Array.from({ length: 40 }, (_, n) => `c${n}`).filter(
      (id) => partitionOf(`t/${id}`, 2) === partition,
    ),
  ) as [string[], string[]];
  for (const id of [...zero.slice(0, 2), ...one.slice(0, 1)]) {
    expect(await propose(id)).not.toBe("overloaded");
  }
  expect(host.conversations()).toEqual({ memory: 3, store: 0 });
  expect(await propose(zero[2] as string)).toBe("overloaded");
  expect(await propose(one[1] as string)).toBe("overloaded");
  expect(await propose(one[0] as string)).not.toBe("overloaded");
  expect(host.conversations()).toEqual({ memory: 3, store: 0 });
});
