import { describe, expect, it } from "vitest";
import { canonicalText } from "../../../../services/core/canonical/canonical-text.ts";
import type { JsonValue } from "../../../../services/core/canonical/json-value.ts";

describe("canonicalText", () => {
  it.each<[JsonValue, string]>([
    [null, "null"],
    [false, "false"],
    [-0, "0"],
    [1e21, "1e+21"],
    [0.000001, "0.000001"],
    [1e-7, "1e-7"],
    [
      '\u0000\u0007\b\t\n\f\r"\\/\u007f\u2028',
      '"\\u0000\\u0007\\b\\t\\n\\f\\r\\"\\\\/\u007f\u2028"',
    ],
    [[], "[]"],
    [{}, "{}"],
    [[1, [2], { a: [] }], '[1,[2],{"a":[]}]'],
    [{ b: 1, a: 2 }, '{"a":2,"b":1}'],
    [{ "10": 1, "9": 2, "1": 3 }, '{"1":3,"10":1,"9":2}'],
    [{ "\ufb33": 1, "\ud83d\ude00": 2 }, '{"\ud83d\ude00":2,"\ufb33":1}'],
    [{ a: 1, aa: 2, A: 3 }, '{"A":3,"a":1,"aa":2}'],
  ])("prints %j", (value, text) => {
    expect(canonicalText(value)).toBe(text);
  });

  it("accepts objects without a prototype", () => {
    const value: Record<string, JsonValue> = Object.create(null);
    value["b"] = 1;
    value["a"] = 2;
    expect(canonicalText(value)).toBe('{"a":2,"b":1}');
  });
});
