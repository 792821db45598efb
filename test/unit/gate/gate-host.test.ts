import { expect, test } from "vitest";
import { createAvroCodec } from "../../../services/adapters/avro/codec.ts";
import { noMetrics, quietLogger } from "../../../services/adapters/log/quiet-logger.ts";
import { MemoryLog } from "../../../services/adapters/memory/memory-log.ts";
import { loadPolicy } from "../../../services/adapters/policy/load.ts";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import type { CompiledPolicy } from "../../../services/core/policy/compiled.ts";
import { capabilities } from "../../../services/gate/capabilities.ts";
import { journalKeepMs } from "../../../services/gate/gate-engine.ts";
import { GateHost } from "../../../services/gate/gate-host.ts";
import { compileGatePolicy } from "../../../services/gate/gate-policy.ts";
import type { Membership } from "../../../services/runtime/membership.ts";
import type { Clock } from "../../../services/runtime/ports.ts";
import { TestClock } from "../../support/runtime-kit.ts";

const ALONE: Membership = {
  assignment: { epoch: 0, numbers: [] },
  joined: false,
  failed: new Promise(() => undefined),
  join: () => Promise.resolve(),
  leave: () => Promise.resolve(),
};

function hostWith(
  membership: Membership,
  clock: Clock,
  policy: CompiledPolicy,
  warmUp?: (signal: AbortSignal) => Promise<void>,
): GateHost {
  const log = new MemoryLog({ partitions: 1, clusterId: "one", nowMs: Date.now });
  return new GateHost({
    ...{ log, ownership: log, checkpoints: null, clock, membership, policy },
    ...{ logger: quietLogger, metrics: noMetrics, decideUnchecked: null, keepMs: 0, tuning: {} },
    codec: createAvroCodec({ secrets: new Map() }),
    ...(warmUp === undefined ? {} : { warmUp }),
  });
}

function lasting(maxAgeMs: number): CompiledPolicy {
  const document = { conversation: { max_age_ms: maxAgeMs, idle_ms: 3_600_000 } };
  const result = compileGatePolicy(loadPolicy(document), capabilities);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.policy.compiled;
}

test("a policy whose conversations last longer lets the journal be kept longer, a shorter one no less", () => {
  const days = 86_400_000;
  const host = hostWith(ALONE, systemClock, lasting(2 * days));
  expect(host.keepMs).toBe(journalKeepMs(lasting(2 * days)));
  host.setPolicy(lasting(9 * days));
  expect(host.keepMs).toBe(journalKeepMs(lasting(9 * days)));
  host.setPolicy(lasting(days));
  expect(host.keepMs).toBe(journalKeepMs(lasting(9 * days)));
  expect(journalKeepMs(lasting(9 * days))).toBeGreaterThan(journalKeepMs(lasting(2 * days)));
});

test("a gate joins after a while though nobody tells which numbers may be its own", async () => {
  let joined = 0;
  const silent: Membership = {
    ...ALONE,
    expected: () => new Promise(() => undefined),
    join: async () => {
      joined += 1;
    },
  };
  // Its sleeps take no time.
  const host = hostWith(silent, new TestClock(), lasting(86_400_000));
  await host.start();
  expect(joined).toBe(1);
  await host.stop();
});

test("a gate is warm before it joins, and one that is stopped meanwhile does not wait for it", async () => {
  const steps: string[] = [];
  const watched: Membership = {
    ...ALONE,
    join: async () => {
      steps.push("joined");
    },
  };
  const host = hostWith(watched, systemClock, lasting(86_400_000), async () => {
    steps.push("warm");
  });
  await host.start();
  expect(steps).toEqual(["warm", "joined"]);
  await host.stop();

  const slow = hostWith(ALONE, systemClock, lasting(86_400_000), async (signal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    steps.push("ended");
  });
  const started = slow.start();
  await slow.stop();
  await started;
  expect(steps).toEqual(["warm", "joined", "ended"]);
});
