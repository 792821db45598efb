// What it accepts is right by the property test beside the strict reader; here, that it is not off.
import { describe, expect, it } from "vitest";
import { readFast } from "../../../../services/core/canonical/fast-reader.ts";
import { DEFAULT_CANONICAL_LIMITS } from "../../../../services/core/canonical/limits.ts";

function fast(text: string): string | undefined {
  return readFast(text, DEFAULT_CANONICAL_LIMITS)?.text;
}

describe("readFast takes", () => {
  it.each([
    ["a canonical text", '{"a":1,"b":[true,false,null,{}],"c":"x"}', undefined],
    ["white space", '{ "a" : 1 ,\n"b":\t[ 1 , 2 ] }', '{"a":1,"b":[1,2]}'],
    ["members in any order", '{"c":1,"a":{"z":1,"y":2},"b":2}', '{"a":{"y":2,"z":1},"b":2,"c":1}'],
    ["keys with one beginning", '{"abc":1,"ab":2,"abd":3,"":4}', '{"":4,"ab":2,"abc":1,"abd":3}'],
    [
      "keys whose second letter is far from ASCII",
      '{"b!":1,"a\u4e00":2,"a\uffee":3,"b":4}',
      '{"a\u4e00":2,"a\uffee":3,"b":4,"b!":1}',
    ],
    ["short escapes as they are", '{"a":"x\\n\\"y\\"\\\\"}', undefined],
    ["other escapes printed anew", '{"b":"\\u00e9\\/","a":"\\n"}', '{"a":"\\n","b":"\u00e9/"}'],
    ["letters beyond ASCII", '{"\u00e9":"\ud83d\ude00","e":1}', '{"e":1,"\u00e9":"\ud83d\ude00"}'],
    ["fractions", '{"b":1.50,"a":19.99}', '{"a":19.99,"b":1.5}'],
    [
      "fractions as they stand",
      "[0,0.5,10.25,0.000001,123456789.12345,9007199254740991]",
      undefined,
    ],
    ["fractions that have an exponent", "[0.0000001,0.10]", "[1e-7,0.1]"],
  ])("%s", (_name, text, expected) => {
    expect(fast(text)).toBe(expected ?? text);
  });

  it("the same text object where nothing changed", () => {
    const text = '{"a":"long enough to be no small string"}';
    expect(readFast(text, DEFAULT_CANONICAL_LIMITS)?.text).toBe(text);
  });
});

describe("readFast leaves to the strict reader", () => {
  it.each([
    ["a bare scalar", "1"],
    ["space around the text", ' {"a":1}'],
    ["a key with an escape", '{"\\u0061":1}'],
    ["a key that stands twice", '{"a":1,"b":2,"a":3}'],
    ["a forbidden key", '{"__proto__":1}'],
    ["a number that is not exact", "[9007199254740993]"],
    ["half of a surrogate pair", '["\\ud800"]'],
    ["a control character", '["\u0001"]'],
    ["an unknown escape", '["\\x"]'],
    ["a string without an end", '["a]'],
    ["a string whose quote is escaped", '["a\\"]'],
    ["a bracket of the other kind", '{"a":1]'],
    ["a bracket of the other kind, members moved", '{"b":1,"a":2]'],
    ["a bracket of the other kind, space left out", "[ 1}"],
    ["a bracket too many", "[1]]"],
    ["a bracket too few", "[[1]"],
    ["a comma before the end", "[1,]"],
    ["a value without a comma", "[1 2]"],
    ["a wrong word", "[truE]"],
    ["one bracket", "["],
  ])("%s", (_name, text) => {
    expect(fast(text)).toBeUndefined();
  });
});
