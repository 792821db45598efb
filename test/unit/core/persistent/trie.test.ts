import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  emptyTrie,
  type Trie,
  trieDelete,
  trieEntries,
  trieGet,
  trieSet,
  trieSorted,
} from "../../../../services/core/persistent/trie.ts";

/** Two keys of one 32-bit FNV-1a hash, and of one each with a letter in front. */
const COLLIDING = ["costarring", "liquid", "declinate", "macallums", "altarage", "zinke"];

const keys = fc.oneof(
  fc.constantFrom("a", "b", "c", "__proto__", "", ...COLLIDING),
  fc.string({ maxLength: 3 }),
);

const edits = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ set: keys, to: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ drop: keys }) },
  ),
  { maxLength: 80 },
);

describe("a trie", () => {
  test("does what a map does, and each edit leaves the trie before it as it was", () => {
    fc.assert(
      fc.property(edits, (all) => {
        const model = new Map<string, number>();
        let trie: Trie<number> = emptyTrie();
        for (const edit of all) {
          const before = trie;
          const listed = trieSorted(before);
          if ("set" in edit) {
            trie = trieSet(trie, edit.set, edit.to);
            model.set(edit.set, edit.to);
          } else {
            trie = trieDelete(trie, edit.drop);
            model.delete(edit.drop);
          }
          expect(trieSorted(before)).toEqual(listed);
          expect(trie.size).toBe(model.size);
        }
        for (const [key, value] of model) expect(trieGet(trie, key)).toBe(value);
        expect(new Map(trieEntries(trie))).toEqual(model);
      }),
      { numRuns: 300 },
    );
  });

  test("tells keys of one hash apart, also when one of them goes", () => {
    let trie: Trie<string> = emptyTrie();
    for (const key of COLLIDING) trie = trieSet(trie, key, key);
    trie = trieSet(trie, "liquid", "changed");
    expect(COLLIDING.map((key) => trieGet(trie, key))).toEqual(
      COLLIDING.map((key) => (key === "liquid" ? "changed" : key)),
    );
    trie = trieDelete(trie, "costarring");
    expect(trieGet(trie, "costarring")).toBeUndefined();
    expect(trieGet(trie, "liquid")).toBe("changed");
    expect(trie.size).toBe(COLLIDING.length - 1);
  });

  test("is the same after a deletion of nothing, and empty after the last", () => {
    const one = trieSet(emptyTrie<number>(), "a", 1);
    expect(trieDelete(one, "b")).toBe(one);
    expect(trieDelete(one, "a")).toEqual(emptyTrie());
    expect(trieGet(emptyTrie(), "a")).toBeUndefined();
    expect([...trieEntries(emptyTrie())]).toEqual([]);
  });

  test("holds ten thousand keys", () => {
    let trie: Trie<number> = emptyTrie();
    for (let n = 0; n < 10_000; n += 1) trie = trieSet(trie, `key ${n}`, n);
    for (let n = 0; n < 10_000; n += 2) trie = trieDelete(trie, `key ${n}`);
    expect(trie.size).toBe(5_000);
    expect(trieGet(trie, "key 9999")).toBe(9_999);
    expect(trieGet(trie, "key 9998")).toBeUndefined();
  });

  test("lists sorted by key in the order of code units", () => {
    let trie: Trie<number> = emptyTrie();
    for (const key of ["b", "a", "Z", "é", "10", "9"]) trie = trieSet(trie, key, 1);
    expect(trieSorted(trie).map(([key]) => key)).toEqual(["10", "9", "Z", "a", "b", "é"]);
  });
});
