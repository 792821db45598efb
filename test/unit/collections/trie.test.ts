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
} from "../../../services/collections/trie.ts";

/** Two keys with one 32-bit FNV-1a hash, and pairs with one each that have a letter in front. */
const COLLIDING = ["costarring", "liquid", "declinate", "macallums", "altarage", "zinke"];

const KEYS = ["a", "b", "c", "__proto__", "", ...COLLIDING];
/** More entries than the flat array has. */
const MANY = Array.from({ length: 40 }, (_, n) => `key ${n}`);

const keys = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...KEYS) },
  { weight: 3, arbitrary: fc.constantFrom(...MANY) },
  { weight: 1, arbitrary: fc.string({ maxLength: 3 }) },
);

const edits = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ set: keys, to: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ drop: keys }) },
  ),
  { maxLength: 200, size: "max" },
);

describe("a trie", () => {
  test("behaves like a map, and each edit leaves the earlier version unchanged", () => {
    const kinds = new Set<boolean>();
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
          kinds.add(trie.few === undefined);
        }
        for (const key of [...model.keys(), ...KEYS, ...MANY]) {
          expect(trieGet(trie, key)).toBe(model.get(key));
        }
        expect(new Map(trieEntries(trie))).toEqual(model);
      }),
      { numRuns: 300 },
    );
    expect(kinds.size).toBe(2);
  });

  test.each([
    ["few", COLLIDING],
    ["that came before many others", [...COLLIDING, ...MANY]],
    ["that came after many others", [...MANY, ...COLLIDING]],
  ])("distinguishes keys with one hash, %s, also after one of them is deleted", (_, all) => {
    let trie: Trie<string> = emptyTrie();
    for (const key of all) trie = trieSet(trie, key, key);
    trie = trieSet(trie, "liquid", "changed");
    expect(COLLIDING.map((key) => trieGet(trie, key))).toEqual(
      COLLIDING.map((key) => (key === "liquid" ? "changed" : key)),
    );
    trie = trieDelete(trie, "costarring");
    expect(trieGet(trie, "costarring")).toBeUndefined();
    expect(trieGet(trie, "liquid")).toBe("changed");
    expect(trie.size).toBe(all.length - 1);
  });

  test("is unchanged by a deletion of an absent key, and empty after the last one", () => {
    const one = trieSet(emptyTrie<number>(), "a", 1);
    expect(trieDelete(one, "b")).toBe(one);
    expect(trieDelete(one, "a")).toEqual(emptyTrie());
    expect(trieGet(emptyTrie(), "a")).toBeUndefined();
    expect([...trieEntries(emptyTrie())]).toEqual([]);
  });

  test("is empty only after the last of many is deleted", () => {
    let trie: Trie<string> = emptyTrie();
    for (const key of MANY) trie = trieSet(trie, key, key);
    for (const [at, key] of MANY.entries()) {
      trie = trieDelete(trie, key);
      const left = MANY.slice(at + 1);
      expect(trie.size).toBe(left.length);
      expect(left.map((one) => trieGet(trie, one))).toEqual(left);
    }
    expect(trie).toEqual(emptyTrie());
  });

  test("holds ten thousand keys", () => {
    let trie: Trie<number> = emptyTrie();
    for (let n = 0; n < 10_000; n += 1) trie = trieSet(trie, `key ${n}`, n);
    for (let n = 0; n < 10_000; n += 2) trie = trieDelete(trie, `key ${n}`);
    expect(trie.size).toBe(5_000);
    expect(trieGet(trie, "key 9999")).toBe(9_999);
    expect(trieGet(trie, "key 9998")).toBeUndefined();
  });

  test("lists its entries sorted by key in the order of code units", () => {
    let trie: Trie<number> = emptyTrie();
    for (const key of ["b", "a", "Z", "é", "10", "9"]) trie = trieSet(trie, key, 1);
    expect(trieSorted(trie).map(([key]) => key)).toEqual(["10", "9", "Z", "a", "b", "é"]);
  });
});
