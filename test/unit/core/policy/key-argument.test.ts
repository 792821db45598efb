import { expect, test } from "vitest";
import type { JsonObject } from "../../../../services/core/canonical/json-value.ts";
import { inWayOfKey, withKey, withoutKey } from "../../../../services/core/policy/key-argument.ts";

const PATH = "options.stripe.key";

test("a key inside other arguments is removed, and so are objects that are empty without it", () => {
  const args: JsonObject = { order: 7, options: { stripe: { key: "k", v: 1 }, currency: "EUR" } };
  expect(withoutKey(args, PATH)).toEqual({
    order: 7,
    options: { stripe: { v: 1 }, currency: "EUR" },
  });
  for (const options of [{ stripe: { key: "k" } }, { stripe: {} }, {}]) {
    expect(withoutKey({ order: 7, options }, PATH)).toEqual({ order: 7 });
  }
  expect(withoutKey({ key: "k", a: 1 }, "key")).toEqual({ a: 1 });
});

test("arguments without a key are unchanged", () => {
  for (const args of [{ order: 7 }, { options: { currency: "EUR" } }, { options: "key" }]) {
    expect(withoutKey(args, PATH)).toBe(args);
  }
  const options = { stripe: { v: 1 } };
  expect(withoutKey({ options }, PATH)["options"]).toBe(options);
});

test("the key is written at its path, and missing objects on the path are created", () => {
  const args: JsonObject = { order: 7, options: { stripe: { key: "k", v: 1 } } };
  expect(withKey(args, PATH, "K")).toEqual({ order: 7, options: { stripe: { key: "K", v: 1 } } });
  expect(args).toEqual({ order: 7, options: { stripe: { key: "k", v: 1 } } });
  for (const start of [{}, { options: {} }, { options: { stripe: {} } }]) {
    expect(withKey(start, PATH, "K")).toEqual({ options: { stripe: { key: "K" } } });
  }
  expect(withKey({ key: "k" }, "key", "K")).toEqual({ key: "K" });
});

test("a caller's value on the path that is no object stays", () => {
  for (const options of ["x", null, [1], 0, { stripe: "x", v: 1 }, { stripe: [{ key: "k" }] }]) {
    expect(withKey({ order: 7, options }, PATH, "K")).toEqual({ order: 7, options });
  }
  const args = { options: "x", [PATH]: "k" };
  expect(withKey(args, PATH, "K")).toEqual({ options: "x" });
});

test("a literal key with dots is neither read as the key nor passed on beside it", () => {
  const args: JsonObject = { order: 7, "options.key": "k", options: { currency: "EUR" } };
  const keyless = { order: 7, options: { currency: "EUR" } };
  expect(withoutKey(args, "options.key")).toEqual(keyless);
  expect(withKey(args, "options.key", "K")).toEqual({
    order: 7,
    options: { currency: "EUR", key: "K" },
  });
  expect(withKey({ "options.key": "k" }, "options.key", "K")).toEqual({ options: { key: "K" } });
});

test("an inherited member does not count as a part of the path", () => {
  expect(withoutKey({ a: 1 }, "toString.key")).toEqual({ a: 1 });
  expect(withKey({}, "constructor.key", "K")).toEqual({ constructor: { key: "K" } });
  expect(inWayOfKey({}, "toString.key")).toBeNull();
});

test("a value on the path that is no object is reported", () => {
  expect(inWayOfKey({ options: "x" }, PATH)).toBe("options");
  expect(inWayOfKey({ options: null }, PATH)).toBe("options");
  expect(inWayOfKey({ options: { stripe: [] } }, PATH)).toBe("options.stripe");
  for (const args of [{}, { options: {} }, { options: { stripe: { key: 1 } } }]) {
    expect(inWayOfKey(args, PATH)).toBeNull();
  }
  expect(inWayOfKey({ key: "x" }, "key")).toBeNull();
});
