import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  emptyLedger,
  type Ledger,
  ledgerDelete,
  ledgerEnd,
  ledgerEntries,
  ledgerFirst,
  ledgerFrom,
  ledgerGet,
  ledgerIsFull,
  ledgerOverflow,
  ledgerPurge,
  ledgerPut,
  ledgerReplace,
  NO_END,
  type StoredEntry,
} from "../../../services/collections/ledger.ts";

interface ModelEntry {
  readonly value: number;
  readonly dropAt: number;
  readonly order: number;
  readonly bytes: number;
}

/** A model: a map that is sorted whenever an order is needed. */
class Model {
  readonly entries = new Map<string, ModelEntry>();
  next = 0;

  put(key: string, value: number, dropAt: number, bytes: number): void {
    this.entries.set(key, { value, dropAt, order: this.next, bytes });
    this.next += 1;
  }

  replace(key: string, value: number, bytes: number): void {
    const old = this.entries.get(key);
    if (old !== undefined) this.entries.set(key, { ...old, value, bytes });
  }

  end(key: string, value: number, dropAt: number, bytes: number): void {
    const old = this.entries.get(key);
    if (old === undefined) return;
    const end = old.dropAt === NO_END ? dropAt : old.dropAt;
    this.entries.set(key, { ...old, value, dropAt: end, bytes });
  }

  purge(nowMs: number): void {
    for (const [key, { dropAt }] of this.entries) if (dropAt <= nowMs) this.entries.delete(key);
  }

  goingFirst(): string[] {
    return [...this.entries]
      .filter(([, { dropAt }]) => dropAt < NO_END)
      .sort(([, a], [, b]) => a.dropAt - b.dropAt || a.order - b.order)
      .map(([key]) => key);
  }

  overflow(sizeMost: number, bytesMost: number, nowMs: number): string[] {
    const left = [...this.entries].filter(([, { dropAt }]) => dropAt > nowMs);
    const keys = this.goingFirst().filter((key) => left.some(([other]) => other === key));
    const out: string[] = [];
    let bytes = left.reduce((sum, [, entry]) => sum + entry.bytes, 0);
    let size = left.length;
    while (keys.length > 0 && (size >= sizeMost || bytes >= bytesMost)) {
      const key = keys.shift() as string;
      size -= 1;
      bytes -= this.entries.get(key)?.bytes ?? 0;
      out.push(key);
    }
    return out;
  }

  get bytes(): number {
    return [...this.entries.values()].reduce((sum, entry) => sum + entry.bytes, 0);
  }
}

/** More entries than a chain has. */
const MANY = 30;

/**
 * Numbers of keys around the limit of a chain and of an index. Some keys are too short for a mark,
 * some have one.
 */
const KEYS = [..."abcdefghijklmnopqrs"].flatMap((letter) => [letter, `${letter} of many`]);
const key = fc.constantFrom(...KEYS);
const acts = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ put: key, value: fc.nat(), dropAt: fc.nat(20), bytes: fc.nat(9) }),
    },
    { weight: 2, arbitrary: fc.record({ replace: key, value: fc.nat(), bytes: fc.nat(9) }) },
    { weight: 2, arbitrary: fc.record({ endless: key, value: fc.nat(), bytes: fc.nat(9) }) },
    {
      weight: 2,
      arbitrary: fc.record({ end: key, value: fc.nat(), dropAt: fc.nat(20), bytes: fc.nat(9) }),
    },
    { weight: 2, arbitrary: fc.record({ drop: key }) },
    { weight: 1, arbitrary: fc.record({ purge: fc.nat(20) }) },
  ),
  { maxLength: 240, size: "max" },
);

type Act = typeof acts extends fc.Arbitrary<(infer A)[]> ? A : never;

/** An entry without its position in a chain. */
function stored({ key: name, value, dropAt, order, bytes }: StoredEntry<number>) {
  return [name, value, dropAt, order, bytes];
}

/** Applies the same act to both. */
function after(ledger: Ledger<number>, model: Model, act: Act): Ledger<number> {
  if ("put" in act) {
    model.put(act.put, act.value, act.dropAt, act.bytes);
    return ledgerPut(ledger, act.put, act.value, act.dropAt, act.bytes);
  }
  if ("replace" in act) {
    model.replace(act.replace, act.value, act.bytes);
    return ledgerReplace(ledger, act.replace, act.value, act.bytes);
  }
  if ("endless" in act) {
    model.put(act.endless, act.value, NO_END, act.bytes);
    return ledgerPut(ledger, act.endless, act.value, NO_END, act.bytes);
  }
  if ("end" in act) {
    model.end(act.end, act.value, act.dropAt, act.bytes);
    return ledgerEnd(ledger, act.end, act.value, act.dropAt, act.bytes);
  }
  if ("drop" in act) {
    model.entries.delete(act.drop);
    return ledgerDelete(ledger, act.drop);
  }
  model.purge(act.purge);
  return ledgerPurge(ledger, act.purge);
}

describe("a ledger", () => {
  test("behaves like its model", () => {
    const kinds = new Set<boolean>();
    fc.assert(
      fc.property(acts, fc.nat(20), fc.nat(6), fc.nat(30), (all, nowMs, sizeMost, bytesMost) => {
        const model = new Model();
        let ledger: Ledger<number> = emptyLedger();
        for (const act of all) {
          ledger = after(ledger, model, act);
          expect([ledger.size, ledger.bytes]).toEqual([model.entries.size, model.bytes]);
          expect(ledgerFirst(ledger)).toBe(model.goingFirst()[0]);
          kinds.add(ledger.index === undefined);
        }
        const again = ledgerFrom(ledgerEntries(ledger), ledger.nextOrder);
        for (const name of [...KEYS, "absent"]) {
          const entry = model.entries.get(name);
          const expected = entry !== undefined && entry.dropAt > nowMs ? entry.value : undefined;
          for (const one of [ledger, again]) expect(ledgerGet(one, name, nowMs)).toBe(expected);
        }
        const overflow = ledgerOverflow(ledger, sizeMost, bytesMost, nowMs);
        expect(overflow).toEqual(model.overflow(sizeMost, bytesMost, nowMs));
        const entries = ledgerEntries(ledger);
        expect(ledgerEntries(again).map(stored)).toEqual(entries.map(stored));
      }),
      { numRuns: 500 },
    );
    expect(kinds.size).toBe(2);
  });

  test("keeps its queue within twice its size, however often a key is put again", () => {
    let ledger: Ledger<number> = emptyLedger();
    for (let n = 0; n < 1_000; n += 1) ledger = ledgerPut(ledger, `key ${n % MANY}`, n, n, 1);
    expect(ledger.index?.queued).toBeLessThanOrEqual(2 * MANY + 16);
    expect(ledger.bytes).toBe(MANY);
  });

  test("leaves each earlier version unchanged", () => {
    const one = ledgerPut(emptyLedger<number>(), "a", 1, 10, 4);
    const two = ledgerPut(one, "a", 2, 20, 6);
    expect([ledgerGet(one, "a", 0), one.bytes]).toEqual([1, 4]);
    expect([ledgerGet(two, "a", 15), two.bytes]).toEqual([2, 6]);
    expect(ledgerGet(one, "a", 10)).toBeUndefined();
    expect(ledgerDelete(two, "absent")).toBe(two);
    expect(ledgerReplace(two, "absent", 3, 1)).toBe(two);
    expect(ledgerPurge(two, 9)).toBe(two);
  });
});

test("an entry that gets an end keeps its order, also among those that end with it", () => {
  const endless = ledgerPut(emptyLedger<string>(), "a", "value", NO_END, 10);
  const later = ledgerPut(endless, "b", "value", 50, 10);
  const ended = ledgerEnd(later, "a", "told", 50, 4);
  expect(ledgerEntries(ended)).toMatchObject([
    { key: "a", value: "told", dropAt: 50, order: 0, bytes: 4 },
    { key: "b", value: "value", dropAt: 50, order: 1, bytes: 10 },
  ]);
  expect([ended.nextOrder, ended.bytes]).toEqual([2, 14]);
  const rebuilt = ledgerFrom(ledgerEntries(ended), ended.nextOrder);
  expect([ended, rebuilt].map(ledgerFirst)).toEqual(["a", "a"]);
  expect(ledgerEnd(ended, "absent", "told", 90, 4)).toBe(ended);
  expect(ledgerEntries(ledgerEnd(ended, "a", "again", 90, 4))[0]).toMatchObject({
    key: "a",
    value: "again",
    dropAt: 50,
  });
});

describe("a ledger of one entry", () => {
  const one = ledgerPut(emptyLedger<string>(), "a", "value", 100, 10);

  test("is full at its size and at its bytes, until the entry ends", () => {
    expect([1, 2].map((most) => ledgerIsFull(one, most, Infinity, 99))).toEqual([true, false]);
    expect([10, 11].map((most) => ledgerIsFull(one, 9, most, 99))).toEqual([true, false]);
    expect(ledgerIsFull(one, 1, 10, 100)).toBe(false);
  });

  test("drops no entry without an end, also after it was rebuilt", () => {
    const endless = ledgerPut(emptyLedger<string>(), "a", "value", NO_END, 10);
    expect(ledgerFirst(endless)).toBeUndefined();
    expect(ledgerFirst(ledgerFrom(ledgerEntries(endless), endless.nextOrder))).toBeUndefined();
    const almost = ledgerPut(emptyLedger<string>(), "a", "value", NO_END - 1, 10);
    expect(ledgerFirst(almost)).toBe("a");
  });
});

describe("a ledger of many entries", () => {
  const many = (): Ledger<number> => {
    let ledger: Ledger<number> = emptyLedger();
    for (let n = 0; n < MANY; n += 1) ledger = ledgerPut(ledger, `key ${n}`, n, 10 + n, 3);
    return ledger;
  };

  test("frees all entries that end at or before a time", () => {
    const left = ledgerPurge(many(), 15);
    expect(ledgerEntries(left).map(({ key: name }) => name)).toEqual(
      Array.from({ length: MANY - 6 }, (_, n) => `key ${n + 6}`),
    );
    expect([left.size, left.bytes]).toEqual([MANY - 6, 3 * (MANY - 6)]);
  });

  test("is not full where enough of it has ended, by size and by bytes", () => {
    expect([MANY - 2, MANY - 3].map((most) => ledgerIsFull(many(), most, Infinity, 12))).toEqual([
      false,
      true,
    ]);
    expect([3 * MANY - 6, 3 * MANY - 9].map((most) => ledgerIsFull(many(), 99, most, 12))).toEqual([
      false,
      true,
    ]);
  });

  test("drops the first where one more would not fit, by size and by bytes", () => {
    expect([MANY, MANY + 1].map((most) => ledgerOverflow(many(), most, 99, 0))).toEqual([
      ["key 0"],
      [],
    ]);
    const bytes = 3 * MANY;
    expect([bytes, bytes + 1].map((most) => ledgerOverflow(many(), 99, most, 0))).toEqual([
      ["key 0"],
      [],
    ]);
  });

  test("is empty once each entry was deleted", () => {
    let ledger = many();
    for (let n = 0; n < MANY; n += 1) {
      ledger = ledgerDelete(ledger, `key ${n}`);
      expect(ledgerGet(ledger, `key ${n}`, 0)).toBeUndefined();
      expect(ledgerEntries(ledger)).toHaveLength(MANY - 1 - n);
    }
    expect([ledger.size, ledger.bytes]).toEqual([0, 0]);
  });
});
