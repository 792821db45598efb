// Two gates of one number, of which only one is in the group, and whose restores take longer than they pause before
// the next: with each the other is fenced, which has not come out of its own yet (KAFKA-5).
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
/** Shorter than a request may take; the pauses are 0.25, 0.5, 1 and 2 s in the time that is looked at. */
const RESTORE_MS = 7_000;
/** The one is fenced so far into the restore of the other, then and later: never near its ends. */
const LATE_MS = 2_500;
/** A gate that has not decided anything for so long does not come back by itself. */
const DEAD_MS = 30_000;
const DECIDED = 10;
const PROPOSED = 30;

const count = ({ counts }: ProxiedGate, name: string): number => counts.get(name) ?? 0;

/** What a restore does once, after it has fenced: it asks which offsets were recorded. */
function slowRestores(proxy: KafkaProxy): { readonly struck: Promise<void> } {
  const deed = { type: "delay", ms: RESTORE_MS } as const;
  return proxy.arm({ api: "OffsetFetch", times: Number.POSITIVE_INFINITY, deed });
}

/** The first has lost its number to the second, which restores it, and will know with the next call. */
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

/** Proposes calls, and tells what has become of them. */
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
  // What they still wait for is of no interest.
  for (const { proxy } of both) {
    proxy.disarm();
    proxy.cutAll();
  }
  return { proposals, problems, refused, fencesOfFirst };
}

describe.skipIf(!kafka.available)(`two that fence each other in turn ${kafka.reason}`, () => {
  it("KAFKA-5: decide nothing any more, and everything where who was fenced asks the group first", async () => {
    const [on, off] = await Promise.all([
      proposeToBoth(whole),
      proposeToBoth(await loadGatesWithout("askGroup")),
    ]);
    expect(on).toEqual({ proposals: PROPOSED, problems: [], refused: [0, 0], fencesOfFirst: 0 });
    expect(off).toMatchObject({ proposals: DECIDED, problems: [] });
    // Both went on trying all the while.
    expect(Math.min(...off.refused)).toBeGreaterThanOrEqual(3);
  });
});
