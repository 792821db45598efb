import { expect, test } from "vitest";
import type { JsonObject } from "../../../../services/core/canonical/json-value.ts";
import {
  getArgument,
  removeArgument,
  setArgument,
  withoutArgument,
} from "../../../../services/core/policy/argument-path.ts";

const ARGS: JsonObject = { a: { b: { c: 1 } }, "a.b": 2, list: [1], nothing: null };

test("a path names members of members, and a literal key with dots never hides them", () => {
  expect(getArgument(ARGS, "a.b")).toEqual({ c: 1 });
  expect(getArgument({ "a.b": 2 }, "a.b")).toBe(2);
  expect(getArgument({ "a.b": 2, a: 1 }, "a.b")).toBeUndefined();
  expect(getArgument(ARGS, "a.b.c")).toBe(1);
  expect(getArgument(ARGS, "nothing")).toBeNull();
});

test("a missing value is undefined, even where every object inherits one of that name", () => {
  const absent = ["x", "a.x", "a.b.c.d", "list.0", "nothing.x", "toString", "__proto__", ""];
  for (const path of absent) expect(getArgument(ARGS, path)).toBeUndefined();
});

test("a value is replaced in a copy", () => {
  expect(setArgument(ARGS, "a.b", 3)).toEqual({ ...ARGS, a: { b: 3 } });
  expect(setArgument({ "a.b": 2 }, "a.b", 3)).toEqual({ "a.b": 3 });
  expect(setArgument(ARGS, "a.b.c", 3)).toEqual({ ...ARGS, a: { b: { c: 3 } } });
  expect(setArgument(ARGS, "a.b.c", 3)).not.toBe(ARGS);
  expect(getArgument(ARGS, "a.b.c")).toBe(1);
});

test("no value is added where none was", () => {
  expect(setArgument(ARGS, "x", 1)).toBe(ARGS);
  expect(setArgument(ARGS, "list.0", 1)).toBe(ARGS);
});

test("a member is removed in a copy", () => {
  expect(withoutArgument({ a: 1, b: 2 }, "a")).toEqual({ b: 2 });
  expect(withoutArgument(ARGS, "x")).toBe(ARGS);
});

test("a path with an empty first part names a member of the member without a name", () => {
  const args: JsonObject = { "": { x: 1 }, ".x": 2 };
  expect(getArgument(args, ".x")).toBe(1);
  expect(setArgument(args, ".x", 3)).toEqual({ "": { x: 3 }, ".x": 2 });
  expect(removeArgument(args, ".x")).toEqual({ "": {}, ".x": 2 });
});
