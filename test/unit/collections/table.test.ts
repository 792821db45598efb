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

const KEYS = ["a", "b", "c", "d", "__proto__", ""];
const key = fc.constantFrom(...KEYS);
const edits = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ set: key, to: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ drop: key }) },
  ),
  { maxLength: 40 },
);

test("a table behaves like a map, and each version stays as it was, whichever is read", () => {
  fc.assert(
    fc.property(edits, fc.array(fc.nat()), (all, reads) => {
      const versions: [Table<number>, ReadonlyMap<string, number>][] = [[emptyTable(), new Map()]];
      let [[table, model]] = versions as [[Table<number>, ReadonlyMap<string, number>]];
      for (const edit of all) {
        const next = new Map(model);
        if ("set" in edit) {
          table = tableSet(table, edit.set, edit.to);
          next.set(edit.set, edit.to);
        } else {
          table = tableDelete(table, edit.drop);
          next.delete(edit.drop);
        }
        model = next;
        versions.push([table, model]);
      }
      for (const read of [...reads.map((at) => at % versions.length), versions.length - 1]) {
        const [version, expected] = versions[read] as (typeof versions)[number];
        expect(version.size).toBe(expected.size);
        expect(KEYS.map((one) => tableGet(version, one))).toEqual(
          KEYS.map((one) => expected.get(one)),
        );
        expect(new Map(tableEntries(version))).toEqual(expected);
      }
    }),
    { numRuns: 300 },
  );
});
