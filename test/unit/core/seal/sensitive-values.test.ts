import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../services/core/canonical/json-value.ts";
import {
  inOrder,
  keysOf,
  pointerOf,
  replaceSensitive,
  type SensitiveValue,
  withValueAt,
} from "../../../../services/core/seal/sensitive-values.ts";

function sealed(args: JsonObject, paths: readonly string[]) {
  const sensitivePaths: SensitiveValue[] = [];
  const value = replaceSensitive(args, inOrder(paths.map((path) => path.split("."))), (path) => {
    sensitivePaths.push(path);
    return "#";
  });
  return { value, sensitivePaths };
}

const CASES: readonly (readonly [
  what: string,
  args: JsonObject,
  paths: string[],
  to: JsonObject,
])[] = [
  ["a member", { card: "4111", n: 1 }, ["card"], { card: "#", n: 1 }],
  ["a member of a member", { a: { b: 7, c: 1 } }, ["a.b"], { a: { b: "#", c: 1 } }],
  ["a whole object", { a: { b: 7 } }, ["a"], { a: "#" }],
  ["a list", { a: [1, 2] }, ["a"], { a: "#" }],
  ["a list on the way", { a: [{ b: 1 }] }, ["a.b"], { a: "#" }],
  ["a text where an object was to be", { a: '{"b":1}' }, ["a.b"], { a: "#" }],
  ["a literal key with dots", { "a.b": 1 }, ["a.b"], { "a.b": "#" }],
  ["both spellings", { a: { b: 1 }, "a.b": 2 }, ["a.b"], { a: { b: "#" }, "a.b": "#" }],
  ["a part of it under a literal key", { "a.b": 1, "a.bc": 2 }, ["a"], { "a.b": "#", "a.bc": "#" }],
  ["no namesake", { ab: 1, "b.a": 2, a: { ab: 3 } }, ["a.b"], { ab: 1, "b.a": 2, a: { ab: 3 } }],
  [
    "any mixture of the two",
    { "a.b": { c: 1 }, a: { "b.c": 2 } },
    ["a.b.c"],
    { "a.b": { c: "#" }, a: { "b.c": "#" } },
  ],
  [
    "false, zero and empty text",
    { a: false, b: 0, c: "" },
    ["a", "b", "c"],
    { a: "#", b: "#", c: "#" },
  ],
  ["the outer of two", { a: { b: 1 }, "a.b": 3 }, ["a.b", "a"], { a: "#", "a.b": "#" }],
  ["one value once", { a: 1 }, ["a", "a"], { a: "#" }],
];

test.each(CASES)("%s is sealed", (_what, args, paths, expected) => {
  const before = structuredClone(args);
  expect(sealed(args, paths).value).toEqual(expected);
  expect(args).toEqual(before);
});

test("arguments without the value are the same object", () => {
  for (const args of [{}, { b: 1 }, { a: null }, { a: { c: 1 } }] as JsonObject[]) {
    expect(sealed(args, ["a.b"].filter(() => args["a"] !== null).concat("x")).value).toBe(args);
  }
  const nothing = { a: null };
  expect(sealed(nothing, ["a"]).value).toBe(nothing);
});

test.each(CASES)("%s can be restored", (_what, args, paths) => {
  const { value, sensitivePaths } = sealed(args, paths);
  const restored = sensitivePaths.reduce<JsonObject | null>(
    (made, path) => made && withValueAt(made, keysOf(pointerOf(path.keys)), path.value),
    value,
  );
  expect(restored).toEqual(args);
});

describe("pointers", () => {
  test("distinguish names with slashes, tildes, or no letters", () => {
    const names = ["a/b", "~1", "", "a~b", "a.b"];
    expect(keysOf(pointerOf(names))).toEqual(names);
    expect(pointerOf(["a/b", "c"])).toBe("/a~1b/c");
  });

  test("that lead nowhere restore nothing", () => {
    expect(withValueAt({ a: 1 }, ["b"], 2)).toBeNull();
    expect(withValueAt({ a: 1 }, ["a", "b"], 2)).toBeNull();
    expect(withValueAt({ a: 1 }, [], 2)).toBeNull();
  });
});
