import { describe, expect, it } from "vitest";
import { valueCapabilities } from "../../../../services/adapters/values/value-capabilities.ts";
import type { JsonValue } from "../../../../services/core/canonical/json-value.ts";
import type { Normalizer } from "../../../../services/core/normalize/normalizer.ts";
import {
  convertToString,
  toLower,
  toUpper,
  trim,
  url,
} from "../../../../services/core/normalize/texts.ts";

type Row = readonly [JsonValue, JsonValue];

function accepts(normalizer: Normalizer, rows: readonly Row[]): void {
  it.each(rows)("turns %j into %j", (value, expected) => {
    expect(normalizer(value, valueCapabilities)).toEqual({ ok: true, value: expected });
  });
}

function refuses(normalizer: Normalizer, rows: readonly (readonly [JsonValue, string])[]): void {
  it.each(rows)("refuses %j", (value, message) => {
    expect(normalizer(value, valueCapabilities)).toEqual({ ok: false, message });
  });
}

const NO_TEXT: readonly JsonValue[] = [1, true, null, ["a"], { a: "a" }];
const KINDS = ["a number", "a boolean", "null", "an array", "an object"];

function refusesAllButText(name: string, normalizer: Normalizer): void {
  refuses(
    normalizer,
    NO_TEXT.map((value, at) => [value, `\`${name}\` needs text, found ${KINDS[at]}`] as const),
  );
}

describe("to_string", () => {
  accepts(convertToString, [
    ["a", "a"],
    ["", ""],
    [10, "10"],
    [1e21, "1e+21"],
    [0.1, "0.1"],
    [true, "true"],
    [false, "false"],
  ]);
  refuses(convertToString, [
    [null, "`to_string` needs text, a number or a boolean, found null"],
    [[], "`to_string` needs text, a number or a boolean, found an array"],
    [{}, "`to_string` needs text, a number or a boolean, found an object"],
  ]);
});

describe("to_lower", () => {
  accepts(toLower, [
    ["USD", "usd"],
    ["\u00c9", "\u00e9"],
    ["I", "i"],
    ["\u0130", "i\u0307"],
    ["\u1e9e", "\u00df"],
    ["1 a", "1 a"],
  ]);
  refusesAllButText("to_lower", toLower);
});

describe("to_upper", () => {
  accepts(toUpper, [
    ["usd", "USD"],
    ["i", "I"],
    ["\u0131", "I"],
    ["\u00df", "SS"],
  ]);
  refusesAllButText("to_upper", toUpper);
});

describe("trim", () => {
  accepts(trim, [
    [" a b \n", "a b"],
    ["\u00a0\ufeffa\u2003", "a"],
    ["\u200ba", "\u200ba"],
    ["", ""],
  ]);
  refusesAllButText("trim", trim);
});

describe("url", () => {
  accepts(url, [
    ["HTTP://Example.com:80/a/../b?q=1#f", "http://example.com/b?q=1#f"],
    ["https://example.com", "https://example.com/"],
    [" https://example.com/ ", "https://example.com/"],
    ["https://b\u00fccher.example/", "https://xn--bcher-kva.example/"],
    ["https://example.com/?b=2&a=1", "https://example.com/?b=2&a=1"],
    ["https://example.com/%7ea", "https://example.com/%7ea"],
    ["mailto:a@example.com", "mailto:a@example.com"],
  ]);
  refuses(url, [
    ["", "`url` needs an absolute URL"],
    ["/a", "`url` needs an absolute URL"],
    ["example.com", "`url` needs an absolute URL"],
    ["http://", "`url` needs an absolute URL"],
    ["http://a b/", "`url` needs an absolute URL"],
  ]);
  refusesAllButText("url", url);
});
