// The table against plain maps that are copied at each step, over versions that branch.
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  emptyTable,
  type Table,
  tableDelete,
  tableEntries,
  tableGet,
  tableSet,
} from "../../../services/collections/table.ts";

interface Version {
  readonly table: Table<number>;
  readonly model: ReadonlyMap<string, number>;
}

const KEYS = [..."abcdef"];

/** `of`: how many versions before the latest it starts from; `look`: an earlier version is read. */
const step = fc.record({
  of: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(12) }),
  act: fc.constantFrom("set", "set", "delete"),
  key: fc.constantFrom(...KEYS),
  look: fc.option(fc.nat(12)),
});

function next({ table, model }: Version, act: string, key: string, value: number): Version {
  const copy = new Map(model);
  if (act === "set") return { table: tableSet(table, key, value), model: copy.set(key, value) };
  copy.delete(key);
  return { table: tableDelete(table, key), model: copy };
}

function back(versions: readonly Version[], distance: number): Version {
  return versions[Math.max(0, versions.length - 1 - distance)] as Version;
}

function agree({ table, model }: Version): void {
  expect(table.size).toBe(model.size);
  for (const key of KEYS) expect(tableGet(table, key)).toBe(model.get(key));
  expect(new Map(tableEntries(table))).toEqual(model);
}

test("every version reads as it did when it was made, whichever is read or changed after", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
      const versions: Version[] = [{ table: emptyTable(), model: new Map() }];
      for (const [value, { of, act, key, look }] of steps.entries()) {
        versions.push(next(back(versions, of), act, key, value));
        if (look !== null) agree(back(versions, look));
      }
      for (const version of versions) agree(version);
      for (const version of versions.toReversed()) agree(version);
    }),
    { numRuns: 500 },
  );
});
