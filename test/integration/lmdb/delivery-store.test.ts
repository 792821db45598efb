// The bounds of the store of webhooks, and what a failed write leaves of it.
import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { DeliveryStore } from "../../../services/adapters/lmdb/delivery-store.ts";
import { makeDirectory } from "../../support/open-gate.ts";

const MOST = 10_000;

type Event = { readonly at: number | bigint };

function openStore(directory = makeDirectory()): DeliveryStore<Event> {
  const store = new DeliveryStore<Event>(directory);
  onTestFinished(() => store.close());
  return store;
}

const eventsFor = (target: string, count: number) =>
  Array.from({ length: count }, (_, at) => ({ target, event: { at } }));
const position = { topic: "decisions", partition: 0, offset: 7 } as const;

describe("a store of deliveries", () => {
  test("stores positions and deliveries together, or nothing of them", () => {
    const store = openStore();
    // No JSON has such a number.
    const unwritable = [...eventsFor("a", 2), { target: "a", event: { at: 1n } }];
    expect(() => store.commit([position], unwritable, 1)).toThrow(/BigInt/);
    expect(store.position("decisions", 0)).toBeUndefined();
    expect(store.counts("a")).toEqual({ pending: 0, dead: 0 });
    store.commit([position], eventsFor("a", 2), 1);
    expect([store.position("decisions", 0), store.counts("a").pending]).toEqual([7, 2]);
  });

  test("never uses a number twice, and separates targets whose ids begin alike", () => {
    const directory = makeDirectory();
    const store = openStore(directory);
    store.commit([], [...eventsFor("a", 1), ...eventsFor("ab", 2)], 1);
    for (const one of store.due("a", 1, 10)) store.remove(one);
    const other = openStore(directory);
    other.commit([], eventsFor("a", 1), 1);
    expect(store.due("a", 1, 10).map(({ number }) => number)).toEqual([4]);
    expect(store.due("ab", 1, 10).map(({ number }) => number)).toEqual([2, 3]);
  });

  test("lets no more than the bound wait: further ones are dead, with the reason", () => {
    const store = openStore();
    expect(store.commit([], eventsFor("a", MOST), 1)).toEqual(new Map());
    store.commit([], [...eventsFor("a", 1), ...eventsFor("b", 1)], 1);
    expect(store.counts("a")).toEqual({ pending: MOST, dead: 1 });
    expect(store.counts("b")).toEqual({ pending: 1, dead: 0 });
    expect(store.listDead()).toEqual([
      expect.objectContaining({ target: "a", problem: expect.stringContaining("were waiting") }),
    ]);
  });

  test("lists no more dead ones than the bound: the oldest are dropped and counted", () => {
    const store = openStore();
    expect(store.commit([], eventsFor("a", 2 * MOST + 3), 1)).toEqual(new Map([["a", 3]]));
    expect(store.counts("a")).toEqual({ pending: MOST, dead: MOST });
    const [waiting] = store.due("a", 1, 1);
    expect(store.bury(waiting ?? expect.unreachable("one waits"), 2, "why")).toBe(1);
    expect(store.counts("a")).toEqual({ pending: MOST - 1, dead: MOST });
  });

  test("is readable by its owner alone", () => {
    const directory = makeDirectory();
    openStore(directory);
    expect(statSync(join(directory, "notify.mdb")).mode & 0o777).toBe(0o600);
  });
});
