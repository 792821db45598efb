// Two gates of one partition, of which only one is in the group. Their restores take longer than their pauses before
// the next, so each take-over fences the other gate in the middle of its restore (KAFKA-5).
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { type Gates, loadGatesWithout } from "../../support/edited-copy/gates-without.ts";
import { propose, readDecided } from "../../support/kafka/test-gate.ts";
import type { ProxiedGate, World } from "../../support/kafka/two-owners.ts";
import * as whole from "../../support/kafka/two-owners.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";
import { until } from "../../support/runtime-kit.ts";

const kafka = await kafkaBackend();
/** Shorter than a request may take; the pauses in the watched time are 0.25, 0.5, 1 and 2 s. */
const RESTORE_MS = 7_000;
/** The fence comes at this time after the start of the other's restore, never near its ends. */
const LATE_MS = 2_500;
/** A gate without a decision for this time does not recover by itself. */
const DEAD_MS = 30_000;
const DECIDED = 10;
const PROPOSED = 30;

const count = ({ counts }: ProxiedGate, name: string): number => counts.get(name) ?? 0;

/** A step that each restore makes once after its fence: it reads the recorded offsets. */
function slowRestores(proxy: KafkaProxy): { readonly struck: Promise<void> } {
  const deed = { type: "delay", ms: RESTORE_MS } as const;
  return proxy.arm({ api: "OffsetFetch", times: Number.POSITIVE_INFINITY, deed });
}

/** The first gate has lost its partition to the second, which restores it, and notices at the next call. */
async function startBoth(world: World, gates: Gates) {
  const first = await gates.startUnaware(world);
  const proxy = await KafkaProxy.start(world.brokers);
  onTestFinished(() => proxy.close());
  slowRestores(first.proxy);
  const { struck } = slowRestores(proxy);
  const second = { ...(await gates.startCounted(world, proxy.brokers)), proxy };
  await struck;
  return { first, second };
}

/** Proposes calls, and returns their decisions. */
async function proposeToBoth(gates: Gates) {
  const world = await gates.makeWorld(kafka.brokers, 1);
  const { first, second } = await startBoth(world, gates);
  const both = [first, second];
  const fencesBefore = first.proxy.seen("InitProducerId");
  await sleep(LATE_MS);
  await propose(world.log, DECIDED, PROPOSED - DECIDED);
  if (gates !== whole) await until(() => both.every((one) => count(one, "take_overs") >= 2));
  await sleep(DEAD_MS);
  const { proposals, problems } = await readDecided(world.log);
  const refused = both.map((one) => count(one, "commit_failures"));
  const fencesOfFirst = first.proxy.seen("InitProducerId") - fencesBefore;
  // Their pending work is irrelevant.
  for (const { proxy } of both) {
    proxy.disarm();
    proxy.cutAll();
  }
  return { proposals, problems, refused, fencesOfFirst };
}

describe.skipIf(!kafka.available)(`two gates that fence each other in turn ${kafka.reason}`, () => {
  it("KAFKA-5: decide nothing more, but everything where a fenced gate asks the group first", async () => {
    const [on, off] = await Promise.all([
      proposeToBoth(whole),
      proposeToBoth(await loadGatesWithout("askGroup")),
    ]);
    expect(on).toEqual({ proposals: PROPOSED, problems: [], refused: [0, 0], fencesOfFirst: 0 });
    expect(off).toMatchObject({ proposals: DECIDED, problems: [] });
    // Both have gone on retrying.
    expect(Math.min(...off.refused)).toBeGreaterThanOrEqual(3);
  });
});
