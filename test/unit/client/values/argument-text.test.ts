// Arguments as JSON, and those that JSON would change or empty.
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import type { CallgateError } from "../../../../services/client/api/callgate-error.ts";
import { argumentText } from "../../../../services/client/values/argument-text.ts";

class Card {
  id = "card_1";
}

/** Has nothing that JSON writes. */
class Hidden {
  readonly #id = "card_1";

  get id(): string {
    return this.#id;
  }
}

const THEN: string = "then";

/** A value that runs once it is awaited, as queries do. */
function lazily(value: object): object {
  return Object.assign(value, { [THEN]: () => undefined });
}

function messageOf(args: object): string {
  try {
    return `passed: ${argumentText("pay", args)}`;
  } catch (error) {
    const { code, message } = error as CallgateError;
    return code === "invalid_input" ? message : `${code}: ${message}`;
  }
}

describe("arguments that JSON would empty or change", () => {
  const plain = "pass what matters of it as plain data, or define `toJSON` on it";
  test.each<[string, unknown, string]>([
    ["a Promise", Promise.resolve("cus_1"), "await it first"],
    ["a Promise", lazily(new Card()), "await it first"],
    ["a Promise", lazily({ table: "customers" }), "await it first"],
    ["a RegExp", /a/, "pass its text, which is its `source`"],
    ["an Error", Object.assign(new Error("no"), { code: "402" }), "pass its message"],
    ["a Map", new Map([["a", 1]]), "pass an object, as `Object.fromEntries` makes it"],
    ["a Set", new Set([1]), "pass an array, as `Array.from` makes it"],
    ["an ArrayBuffer", new ArrayBuffer(2), "pass text, such as its bytes in base64"],
    ["a Uint8Array", new Uint8Array(2), "pass text, such as its bytes in base64"],
    ["a Blob", new Blob(["a"]), plain],
    ["a WeakMap", new WeakMap(), plain],
    ["a WeakSet", new WeakSet(), plain],
    ["a URLSearchParams", new URLSearchParams("a=1"), plain],
    ["a Hidden", new Hidden(), plain],
    ["an Object", Object.create({ id: "inherited" }), plain],
    ["a bigint", 5n, "pass its digits as text"],
    ["a function", () => 1, "leave it out"],
    ["a symbol", Symbol("a"), "leave it out"],
    ["NaN", Number.NaN, "pass a number, or null"],
  ])("contain %s: the error says what, where and what to do", (what, value, remedy) => {
    const problem = `which JSON cannot carry: ${remedy}`;
    expect(messageOf({ order: "7", customer: value })).toBe(
      `the arguments of \`pay\` contain ${what} at \`$.customer\`, ${problem}`,
    );
    const same = { same: "member" };
    const lines = [{ same, "a b": [same, value] }];
    expect(messageOf({ same, at: new Date(0), order: { same, lines } })).toBe(
      `the arguments of \`pay\` contain ${what} at \`$.order.lines[0]["a b"][1]\`, ${problem}`,
    );
  });

  test("are rejected if they are a promise themselves", () => {
    expect(messageOf(Promise.resolve({ order: "7" }))).toBe(
      "the arguments of `pay` are a Promise, which JSON cannot carry: await it first",
    );
  });

  test("are checked after toJSON", () => {
    const card = Object.assign(new Card(), { toJSON: () => ({ holder: new Map() }) });
    expect(messageOf({ card })).toContain("contain a Map at `$.card.holder`");
    expect(messageOf({ card: Object.assign(new Map(), { toJSON: () => "card" }) })).toBe(
      'passed: {"card":"card"}',
    );
  });
});

describe("arguments that JSON carries", () => {
  test.each<[string, unknown, string]>([
    ["a date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["a URL", new URL("http://host/"), '"http://host/"'],
    ["a buffer", Buffer.from("a"), '{"type":"Buffer","data":[97]}'],
    ["an object of a class", new Card(), '{"id":"card_1"}'],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ["an empty object", {}, "{}"],
    ["an empty object of another realm", runInNewContext("({})"), "{}"],
    ["an empty list", [], "[]"],
    ["numbers and texts as objects", [Object(1), Object("a")], '[1,"a"]'],
    ["undefined", { a: undefined, b: 1 }, '{"b":1}'],
    ["a member called then", JSON.parse('{"then":"later"}'), '{"then":"later"}'],
  ])("may contain %s", (_what, value, text) => {
    expect(messageOf({ value })).toBe(`passed: {"value":${text}}`);
  });

  test("may be text, or absent", () => {
    expect(argumentText("pay", "not { JSON")).toBe("not { JSON");
    expect(argumentText("pay", undefined)).toBe("{}");
  });
});
