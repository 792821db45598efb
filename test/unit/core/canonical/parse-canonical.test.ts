import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../../services/core/canonical/json-value.ts";
import {
  DEFAULT_CANONICAL_LIMITS,
  GREATEST_MAX_BYTES,
  LEAST_MAX_BYTES,
} from "../../../../services/core/canonical/limits.ts";
import { parseCanonical } from "../../../../services/core/canonical/parse-canonical.ts";

function textOf(input: string): string {
  const result = parseCanonical(input);
  if (!result.ok) throw new Error(`${result.code}: ${result.message}`);
  return result.text;
}

function refusalOf(input: string | Uint8Array) {
  const result = parseCanonical(input);
  if (result.ok) throw new Error(`accepted as ${result.text}`);
  return result;
}

function nested(levels: number): string {
  return "[".repeat(levels) + "]".repeat(levels);
}

describe("parseCanonical accepts", () => {
  it.each([
    ['{"b":1,"a":2}', '{"a":2,"b":1}'],
    ['{ "b" : 1 , "a" : [ 1 , { } , [ ] ] }', '{"a":[1,{},[]],"b":1}'],
    ['{"\\u0061":"\\u00e9\\/\\n"}', '{"a":"\u00e9/\\n"}'],
    ['{"n":1e1}', '{"n":10}'],
    ['{"n":10.0}', '{"n":10}'],
    ['{"n":-0}', '{"n":0}'],
    ['{"n":-0.0}', '{"n":0}'],
    ['{"n":0.10}', '{"n":0.1}'],
    ['{"n":1E30}', '{"n":1e+30}'],
    ['{"n":0.30000000000000004}', '{"n":0.30000000000000004}'],
    ['{"n":9007199254740992}', '{"n":9007199254740992}'],
    ['{"n":9007199254740994}', '{"n":9007199254740994}'],
    ['{"n":5e-324}', '{"n":5e-324}'],
    ['{"a":"\\u0000\\u001f\\u007f"}', '{"a":"\\u0000\\u001f\u007f"}'],
    ['{"a":"\\ud83d\\ude00"}', '{"a":"\ud83d\ude00"}'],
    ['{"ab":1,"a":2,"":3}', '{"":3,"a":2,"ab":1}'],
    ['{"\ufb33":1,"\ud83d\ude00":2,"\u00f6":3}', '{"\u00f6":3,"\ud83d\ude00":2,"\ufb33":1}'],
    ['{"toString":1,"hasOwnProperty":2}', '{"hasOwnProperty":2,"toString":1}'],
    ["null", "null"],
    [" true ", "true"],
    ['"a"', '"a"'],
    ["12", "12"],
  ])("%s as %s", (input, text) => {
    expect(textOf(input)).toBe(text);
  });

  it("sorts keys that look like array indexes as text, and keeps the value whole", () => {
    const result = parseCanonical('{"9":1,"10":2,"1":3}');
    expect(result).toMatchObject({ ok: true, text: '{"1":3,"10":2,"9":1}' });
    expect(result.ok && result.value).toEqual({ "1": 3, "9": 1, "10": 2 });
  });

  it("counts keys and levels", () => {
    const input = '{"a":{"b":[{"c":1},{"c":2}]},"d":0}';
    expect(parseCanonical(input)).toMatchObject({ ok: true, keyCount: 5, depth: 4 });
    expect(parseCanonical("7")).toMatchObject({ ok: true, keyCount: 0, depth: 0 });
  });

  it("returns the value that the text spells", () => {
    const value: JsonValue = { a: [1, "x", null, true, { b: -1.5 }], z: "\u00e9" };
    const result = parseCanonical('{"z":"\u00e9","a":[1,"x",null,true,{"b":-1.5}]}');
    expect(result.ok && result.value).toEqual(value);
    expect(result.ok && Object.keys(result.value as object)).toEqual(["a", "z"]);
  });

  it("distinguishes forms of one letter: composed and decomposed, wide and narrow", () => {
    const texts = ["\u00e9", "e\u0301", "a", "\uff41", "a\u200b"].map((text) =>
      textOf(JSON.stringify({ text })),
    );
    expect(new Set(texts).size).toBe(5);
  });
});

describe("parseCanonical refuses what JSON.parse accepts", () => {
  it("a key that occurs twice, of which JSON.parse keeps the last", () => {
    expect(JSON.parse('{"a":1,"a":2}')).toEqual({ a: 2 });
    expect(refusalOf('{"a":1,"a":2}')).toEqual({
      ok: false,
      reason: "malformed",
      code: "duplicate_key",
      message: "key `a` stands twice in one object, send it once",
      at: 7,
    });
    expect(refusalOf('{"a":1,"b":2,"\\u0061":2}').code).toBe("duplicate_key");
    expect(refusalOf('{"x":{"b":1,"a":1,"b":1}}').code).toBe("duplicate_key");
  });

  it("a number that overflows, which would be printed as null", () => {
    expect(JSON.stringify(JSON.parse('{"a":1e400}'))).toBe('{"a":null}');
    expect(refusalOf('{"a":1e400}').code).toBe("number_overflow");
    expect(refusalOf('{"a":-1e400}').code).toBe("number_overflow");
  });

  it("a number that becomes zero", () => {
    expect(JSON.parse("1e-400")).toBe(0);
    expect(refusalOf('{"a":1e-400}').code).toBe("number_underflow");
  });

  it("an integer that a double rounds", () => {
    expect(JSON.parse("9007199254740993")).toBe(9007199254740992);
    expect(refusalOf('{"a":9007199254740993}').code).toBe("number_not_exact");
    expect(refusalOf('{"a":9007199254740993.0}').code).toBe("number_not_exact");
  });

  it("an integer that a double has but does not print", () => {
    expect(String(2 ** 60)).toBe("1152921504606847000");
    expect(refusalOf('{"a":1152921504606846976}').code).toBe("number_not_exact");
    expect(refusalOf('{"a":1152921504606847000}').code).toBe("number_not_exact");
  });

  it("more digits than a double has", () => {
    expect(JSON.parse("0.1000000000000000055511151231257827")).toBe(0.1);
    const refusal = refusalOf('{"a":0.1000000000000000055511151231257827}');
    expect(refusal.code).toBe("number_too_precise");
  });

  it("half of a surrogate pair, which hashing makes equal to every other half", () => {
    for (const text of ["\\ud800", "\\udfff", "\ud800", "\udc00\\ud800", "\\ud83d\ude00"]) {
      expect(refusalOf(`{"a":"${text}"}`).code).toBe("lone_surrogate");
      expect(refusalOf(`{"${text}":1}`).code).toBe("lone_surrogate");
    }
  });

  it("keys that reach a prototype", () => {
    const copied: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(JSON.parse('{"__proto__":{"x":1}}') as object)) {
      copied[key] = value;
    }
    expect([Object.keys(copied), copied["x"]]).toEqual([[], 1]);
    for (const key of ["__proto__", "constructor", "prototype", "__pr\\u006fto__"]) {
      expect(refusalOf(`{"to":"a","${key}":{"x":1}}`)).toMatchObject({
        reason: "malformed",
        code: "forbidden_key",
        at: 10,
      });
    }
  });

  it("a million levels, on which JSON.stringify overflows the stack", () => {
    const deep = nested(100_000);
    expect(() => JSON.stringify(JSON.parse(deep))).toThrow(RangeError);
    expect(refusalOf(deep)).toMatchObject({ reason: "too_large", code: "too_deep", at: 32 });
  });
});

describe("parseCanonical reports positions", () => {
  it("in code units for a string and in bytes for bytes", () => {
    const text = '{"\u00e9\ud83d\ude00":tru}';
    expect(refusalOf(text).at).toBe(7);
    expect(refusalOf(new TextEncoder().encode(text)).at).toBe(10);
  });

  it("for bytes that are not UTF-8", () => {
    const bytes = Uint8Array.from([0x22, 0xc3, 0xa9, 0xed, 0xa0, 0x80, 0x22]);
    expect(refusalOf(bytes)).toMatchObject({ reason: "malformed", code: "invalid_utf8", at: 3 });
  });

  it("and shows the input short and in ASCII", () => {
    const key = `\u202e\`${"x".repeat(100)}`;
    const { message } = refusalOf(`{"${key}":1,"${key}":1}`);
    expect(message).toBe(
      `key \`\\u202e\\u0060${"x".repeat(38)}...\` stands twice in one object, send it once`,
    );
  });
});

describe("parseCanonical enforces its limits", () => {
  const limits = DEFAULT_CANONICAL_LIMITS;

  it("from the documentation", () => {
    expect(limits).toEqual({ maxBytes: 262_144, maxDepth: 32, maxKeys: 4_096 });
    expect([LEAST_MAX_BYTES, GREATEST_MAX_BYTES]).toEqual([1_024, 921_600]);
  });

  it("on levels", () => {
    expect(parseCanonical(nested(32))).toMatchObject({ ok: true, depth: 32 });
    expect(refusalOf(nested(33)).code).toBe("too_deep");
    expect(refusalOf(`${'{"a":'.repeat(33)}1${"}".repeat(33)}`).code).toBe("too_deep");
  });

  it("on keys, counted over all objects", () => {
    const members = (count: number) =>
      Array.from({ length: count }, (_, at) => `"k${at}":0`).join(",");
    expect(parseCanonical(`{${members(4_096)}}`)).toMatchObject({ ok: true, keyCount: 4_096 });
    const over = `[{${members(4_000)}},{${members(97)}}]`;
    expect(refusalOf(over)).toMatchObject({ reason: "too_large", code: "too_many_keys" });
  });

  it("on bytes, even where the text has fewer units than bytes", () => {
    const exactly = `"${"a".repeat(limits.maxBytes - 2)}"`;
    expect(parseCanonical(exactly).ok).toBe(true);
    expect(refusalOf(`${exactly} `)).toMatchObject({
      reason: "too_large",
      code: "too_large",
      message: "the text has more than the 262144 bytes allowed, send less",
    });
    expect(parseCanonical(new TextEncoder().encode(exactly)).ok).toBe(true);
    expect(refusalOf(new TextEncoder().encode(`${exactly} `)).code).toBe("too_large");
    expect(refusalOf(`"${"\u00e9".repeat(limits.maxBytes / 2)}"`).code).toBe("too_large");
    expect(parseCanonical(`"${"\u00e9".repeat(limits.maxBytes / 2 - 1)}"`).ok).toBe(true);
  });

  it("on the canonical form, which numbers can make longer than the text", () => {
    const input = `[${Array(200).fill("1e20").join(",")}]`;
    const text = textOf(input);
    const bounds = { ...limits, maxBytes: 1_024 };
    expect([input.length, text.length]).toEqual([1_001, 4_401]);
    expect(parseCanonical(input, bounds)).toMatchObject({ ok: false, code: "too_large" });
  });
});

describe("parseCanonical takes linear time", () => {
  it.each([
    ["escapes", `["${"\\n".repeat(120_000)}"]`],
    ["escapes before a late error", `["${"\\u0041".repeat(40_000)}`],
    ["zeros in a number", `[1${"0".repeat(100_000)}1${"0".repeat(100_000)}]`],
    ["zeros in a fraction", `[0.${"0".repeat(200_000)}x]`],
    [
      "keys in reverse",
      `{${Array.from({ length: 4_096 }, (_, at) => `"k${9_999 - at}":0`).join(",")}}`,
    ],
    ["many small values", `[${Array(120_000).fill("0").join(",")}]`],
  ])("on %s", (_name, text) => {
    // No time is asserted: a quadratic reader takes minutes here and exceeds the test's time limit.
    for (let round = 0; round < 6; round += 1) parseCanonical(text);
  });
});
