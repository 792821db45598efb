import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import { Standby } from "../../../services/gate/standby.ts";
import { coreFold } from "../../../services/runtime/core-engine.ts";
import type { ReadContext } from "../../../services/runtime/restore-context.ts";
import {
  createTestLogger,
  DAY_MS,
  noMetrics,
  RuntimeKit,
  until,
} from "../../support/runtime-kit.ts";
import { jsonCodec } from "../../support/simulation/json-codec.ts";

let kit: RuntimeKit;
let standby: Standby;

/** The log of the kit has only partition 0. */
beforeEach(() => {
  kit = new RuntimeKit();
  const logger = createTestLogger(kit.lines);
  const contextOf = (partition: number): ReadContext => ({
    ...{
      partition,
      log: kit.log,
      checkpoints: null,
      states: null,
      codec: jsonCodec,
      fold: coreFold,
    },
    ...{
      clock: systemClock,
      logger,
      metrics: noMetrics,
      spanMs: 8 * DAY_MS,
    },
  });
  standby = new Standby({ contextOf, clock: systemClock, logger, followMs: 60_000 });
});

afterEach(async () => {
  standby.close();
  await kit.close();
});

async function decided(count: number): Promise<void> {
  const before = (await kit.journal()).length;
  for (let i = 0; i < count; i += 1) await kit.propose();
  await kit.journaled(before + count);
}

test("take returns a prepared state once, with all records of the journal", async () => {
  kit.start();
  await decided(3);
  await standby.prepare([0]);
  expect((await standby.take(0))?.state.progress.seq).toBe(3);
  expect(await standby.take(0)).toBeNull();
});

test("a prepared state that is not taken follows its journal", async () => {
  kit.start();
  await decided(1);
  await standby.prepare([0]);
  await decided(4);
  // Reads that the standby makes by itself: only then is the state at the end when it is taken.
  const seen = kit.log.read.bind(kit.log);
  let readTo = 0;
  kit.log.read = async (topic, ...args) => {
    const result = await seen(topic, ...args);
    if (topic === "decisions") readTo = Math.max(readTo, result.nextOffset);
    return result;
  };
  await until(() => readTo === 5);
  expect((await standby.take(0))?.state.progress.seq).toBe(5);
});

test("a partition that cannot be prepared is left to the restore, and does not block others", async () => {
  kit.start();
  await decided(2);
  await standby.prepare([7, 0]);
  expect(await standby.take(7)).toBeNull();
  expect((await standby.take(0))?.state.progress.seq).toBe(2);
  expect(kit.lines.map(({ message }) => message)).toContain("a partition could not be prepared");
});

test("a partition that is taken before it was read is read by the owner only", async () => {
  kit.start();
  await decided(2);
  expect(await standby.take(0)).toBeNull();
  await standby.prepare([0]);
  expect(await standby.take(0)).toBeNull();
});

test("close drops every prepared state", async () => {
  kit.start();
  await decided(2);
  await standby.prepare([0]);
  standby.close();
  expect(await standby.take(0)).toBeNull();
});
