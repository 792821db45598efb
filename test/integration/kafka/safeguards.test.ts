// The safeguards of gates on a real broker. Beside the gate runs a copy without one safeguard, and only
// the copy shows the fault that the safeguard prevents.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { type Gates, loadGatesWithout } from "../../support/edited-copy/gates-without.ts";
import {
  isReady,
  Load,
  ownedBy,
  propose,
  readDecided,
  untilDecided,
  untilReady,
} from "../../support/kafka/test-gate.ts";
import type { CountedGate, World } from "../../support/kafka/two-owners.ts";
import * as whole from "../../support/kafka/two-owners.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";
import { until } from "../../support/runtime-kit.ts";

const kafka = await kafkaBackend();
/** A gate without a decision for this time does not recover by itself. */
const DEAD_MS = 30_000;
const WATCHED_MS = 8_000;

/** With the safeguard the fault may not happen in this time; without it, it happens eventually. */
async function watch(gates: Gates, hasHappened: () => boolean): Promise<void> {
  if (gates === whole) await sleep(WATCHED_MS);
  else await until(hasHappened);
}

/** Returns whether all calls are decided in time. */
async function decidesWithin(world: World, count: number, timeMs: number): Promise<boolean> {
  for (const untilMs = Date.now() + timeMs; Date.now() < untilMs; await sleep(100)) {
    if ((await readDecided(world.log)).proposals >= count) return true;
  }
  return false;
}

/** Journal problems where a gate that has lost its partition goes on beside the next owner. */
async function commitBesideOwner(gates: Gates): Promise<readonly string[]> {
  const world = await gates.makeWorld(kafka.brokers, 1);
  await gates.startUnaware(world);
  const second = await gates.startCounted(world);
  await gates.untilTaken(second);
  const load = new Load(world.log, 5, 20);
  await until(() => load.count >= 300);
  // The load begins at the first call, so calls with a decision are proposed again.
  await load.stop();
  return (await untilQuiet(world)).problems;
}

async function untilQuiet(world: World) {
  let before = -1;
  for (;;) {
    const decided = await readDecided(world.log);
    const end = await world.log.endOffset("decisions", 0);
    if (end === before) return decided;
    before = end;
    await sleep(1_000);
  }
}

/** Journal problems where the first gate commits between the second's read of the journal and its fence. */
async function commitBeforeFence(gates: Gates): Promise<readonly string[]> {
  const world = await gates.makeWorld(kafka.brokers, 1);
  await gates.startUnaware(world);
  const proxy = await KafkaProxy.start(kafka.brokers);
  onTestFinished(() => proxy.close());
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { struck } = proxy.arm({
    api: "InitProducerId",
    deed: { type: "hold-before", until: released },
  });
  const second = await gates.startCounted(world, proxy.brokers);
  await struck;
  await propose(world.log, 10, 20);
  await untilDecided(world.log, 30);
  release();
  await gates.untilTaken(second);
  await propose(world.log, 30, 10);
  await until(() => (second.counts.get("commits") ?? 0) > 0);
  return (await untilQuiet(world)).problems;
}

/** Returns whether a gate decides again after the answer to a commit was lost. */
async function decidesAfterLostEnd(gates: Gates): Promise<boolean> {
  const world = await gates.makeWorld(kafka.brokers, 1);
  const proxy = await KafkaProxy.start(kafka.brokers);
  onTestFinished(() => proxy.close());
  const { gate } = await gates.startCounted(world, proxy.brokers);
  await untilReady(gate);
  const { struck } = proxy.arm({ api: "EndTxn", deed: { type: "cut-after" } });
  await propose(world.log, 0, 10);
  await struck;
  await propose(world.log, 10, 10);
  if (gates !== whole) return decidesWithin(world, 20, DEAD_MS);
  await untilDecided(world.log, 20);
  return true;
}

/** Take-overs and decisions of two gates of which only one is in the group, in a fixed time. */
async function takeOversOfTwo(gates: Gates) {
  const world = await gates.makeWorld(kafka.brokers, 1);
  const first = await gates.startUnaware(world);
  const second = await gates.startCounted(world);
  await gates.untilTaken(second);
  const load = new Load(world.log, 5, 20);
  const takeOvers = (): number => second.counts.get("take_overs") ?? 0;
  const before = takeOvers();
  await watch(gates, () => takeOvers() > before);
  const ofSecond = takeOvers() - before;
  await load.stop();
  const { problems } = await untilQuiet(world);
  return { ofSecond, ofFirst: first.counts.get("take_overs") ?? 0, problems };
}

/** Take-overs of three gates that share four partitions, in a fixed time. */
async function takeOversOfThree(gates: Gates) {
  const world = await gates.makeWorld(kafka.brokers, 4);
  const three: CountedGate[] = [];
  for (let at = 0; at < 3; at += 1) three.push(await gates.startCounted(world));
  const takeOvers = (): number =>
    three.reduce((sum, { counts }) => sum + (counts.get("take_overs") ?? 0), 0);
  const load = new Load(world.log, 8, 20);
  if (gates === whole) await until(() => isShared(three, 4));
  const before = takeOvers();
  await watch(gates, () => takeOvers() - before >= 3);
  const after = takeOvers();
  await load.stop();
  return after - before;
}

/** Waits until each gate has some partitions, and each partition has one gate. */
function isShared(gates: readonly CountedGate[], numbers: number): boolean {
  const owned = gates.map(({ gate }) => ownedBy(gate).length);
  const all = owned.reduce((sum, one) => sum + one, 0);
  return all === numbers && !owned.includes(0) && gates.every(({ gate }) => isReady(gate));
}

describe.skipIf(!kafka.available)(`safeguards on a real broker ${kafka.reason}`, () => {
  it("KAFKA-1: the transactional id of a partition fences a gate that goes on beside the next owner", async () => {
    const [on, off] = await Promise.all([
      commitBesideOwner(whole),
      commitBesideOwner(await loadGatesWithout("idOfPartition")),
    ]);
    expect(on).toEqual([]);
    expect(off.join("\n")).toMatch(/follows|not linked|second time/);
  });

  it("KAFKA-2: a gate reads the journal's end after the fence, so that nothing is decided twice", async () => {
    const [on, off] = await Promise.all([
      commitBeforeFence(whole),
      commitBeforeFence(await loadGatesWithout("endAfterFence")),
    ]);
    expect(on).toEqual([]);
    expect(off.join("\n")).toMatch(/follows|not linked|second time/);
  });

  it("KAFKA-4: a gate never uses a producer again whose commit has an unknown outcome", async () => {
    const [on, off] = await Promise.all([
      decidesAfterLostEnd(whole),
      decidesAfterLostEnd(await loadGatesWithout("freshProducer")),
    ]);
    expect({ on, off }).toEqual({ on: true, off: false });
  });

  it("KAFKA-5: a fenced gate asks the group first, so that two gates do not fence each other in turn", async () => {
    const [on, off] = await Promise.all([
      takeOversOfTwo(whole),
      takeOversOfTwo(await loadGatesWithout("askGroup")),
    ]);
    expect(on).toMatchObject({ ofSecond: 0, problems: [] });
    // The decisions are right, but the partition moves to and fro; where restores take longer, nothing is decided
    // at all (fenced-in-turn.test.ts).
    expect(off.ofSecond).toBeGreaterThanOrEqual(1);
    expect(off.problems).toEqual([]);
  });

  it("KAFKA-17: the group assigns partitions across topics, so that each has one owner", async () => {
    const [on, off] = await Promise.all([
      takeOversOfThree(whole),
      takeOversOfThree(await loadGatesWithout("assignPartitions")),
    ]);
    expect(on).toBe(0);
    expect(off).toBeGreaterThanOrEqual(3);
  });
});
