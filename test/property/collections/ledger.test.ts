// The ledger against a plain list that is searched from end to end.
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  emptyLedger,
  type Ledger,
  ledgerDelete,
  ledgerEntries,
  ledgerFirst,
  ledgerGet,
  ledgerOverflow,
  ledgerPurge,
  ledgerPut,
  ledgerReplace,
} from "../../../services/collections/ledger.ts";

type Step =
  | { readonly do: "put"; readonly key: string; readonly dropAt: number; readonly bytes: number }
  | { readonly do: "replace"; readonly key: string; readonly bytes: number }
  | { readonly do: "delete"; readonly key: string }
  | { readonly do: "purge"; readonly nowMs: number };

type Entry = {
  readonly key: string;
  readonly value: number;
  readonly dropAt: number;
  readonly order: number;
  readonly bytes: number;
};

const key = fc.constantFrom(..."abcdefghijklmn");
const time = fc.nat(40);
const bytes = fc.nat(9);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("put"), key, dropAt: time, bytes }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("replace"), key, bytes }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete"), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("purge"), nowMs: time }) },
) as fc.Arbitrary<Step>;

function take(ledger: Ledger<number>, one: Step, value: number): Ledger<number> {
  switch (one.do) {
    case "put":
      return ledgerPut(ledger, one.key, value, one.dropAt, one.bytes);
    case "replace":
      return ledgerReplace(ledger, one.key, value, one.bytes);
    case "delete":
      return ledgerDelete(ledger, one.key);
    case "purge":
      return ledgerPurge(ledger, one.nowMs);
  }
}

function takePlainly(list: readonly Entry[], one: Step, value: number, order: number): Entry[] {
  switch (one.do) {
    case "put": {
      const entry = { key: one.key, value, dropAt: one.dropAt, order, bytes: one.bytes };
      return [...list.filter((other) => other.key !== one.key), entry];
    }
    case "replace":
      return list.map((entry) =>
        entry.key === one.key ? { ...entry, value, bytes: one.bytes } : entry,
      );
    case "delete":
      return list.filter((entry) => entry.key !== one.key);
    case "purge":
      return list.filter((entry) => entry.dropAt > one.nowMs);
  }
}

function inDropOrder(list: readonly Entry[]): readonly Entry[] {
  return [...list].sort((a, b) => a.dropAt - b.dropAt || a.order - b.order);
}

function overflowPlainly(
  list: readonly Entry[],
  sizeMost: number,
  bytesMost: number,
  nowMs: number,
): readonly string[] {
  const left = [...inDropOrder(list)];
  const keys: string[] = [];
  const isFull = (): boolean =>
    left.length >= sizeMost || left.reduce((sum, entry) => sum + entry.bytes, 0) >= bytesMost;
  while (left.length > 0 && isFull()) {
    const first = left.shift();
    if (first !== undefined && first.dropAt > nowMs) keys.push(first.key);
  }
  return keys;
}

test("a ledger holds, orders and counts what a plain list does", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), time, (steps, nowMs) => {
      let ledger = emptyLedger<number>();
      let list: readonly Entry[] = [];
      let order = 0;
      for (const [value, one] of steps.entries()) {
        ledger = take(ledger, one, value);
        list = takePlainly(list, one, value, order);
        if (one.do === "put") order += 1;
        expect(ledgerFirst(ledger)).toBe(inDropOrder(list)[0]?.key);
        expect(ledger.bytes).toBe(list.reduce((sum, entry) => sum + entry.bytes, 0));
        if (one.do === "put" && ledger.index !== undefined) {
          expect(ledger.index.queued).toBeLessThanOrEqual(2 * ledger.size + 16);
        }
        const expected = overflowPlainly(list, 4, 20, nowMs);
        expect(ledgerOverflow(ledger, 4, 20, nowMs)).toEqual(expected);
      }
      expect(ledgerEntries(ledger).map((entry) => entry.key)).toEqual(
        [...list].sort((a, b) => a.order - b.order).map((entry) => entry.key),
      );
      for (const entry of list) {
        const value = entry.dropAt > nowMs ? entry.value : undefined;
        expect(ledgerGet(ledger, entry.key, nowMs)).toBe(value);
      }
    }),
  );
});
