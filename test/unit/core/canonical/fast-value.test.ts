// Values are right by the property test beside the strict reader; here, where each way of making them ends.
import { afterEach, describe, expect, it, vi } from "vitest";
import { readFast } from "../../../../services/core/canonical/fast-reader.ts";
import type { FastRead } from "../../../../services/core/canonical/fast-walk.ts";
import type { JsonValue } from "../../../../services/core/canonical/json-value.ts";
import { DEFAULT_CANONICAL_LIMITS } from "../../../../services/core/canonical/limits.ts";
import { type Member, readMembers } from "../../../../services/core/canonical/read-members.ts";

function value(text: string): JsonValue | undefined {
  return readFast(text, DEFAULT_CANONICAL_LIMITS)?.value;
}

/** A text of so many units, with one string. */
function textOf(length: number): string {
  return `["${"x".repeat(length - 4)}"]`;
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a value", () => {
  it.each([
    ["literals", "[true,false,null]"],
    ["empty containers", '{"a":{},"b":[],"c":""}'],
    ["nested containers", '{"a":[[{"b":[1]}],{"c":{"d":2}}]}'],
    ["integers of nine digits and ten", "[0,999999999,1000000000,123456789012345]"],
    ["numbers that are no plain integers", "[-1,1.5,-0.25,19.99]"],
    ["keys of every length", `{"":1,"a":2,"ab":3,"${"k".repeat(60)}":4}`],
    ["keys that are indices", '{"0":"a","10":"b","9":"c"}'],
    ["letters beyond ASCII", '{"\u00e9":"\ud83d\ude00","\u4e00":["\uffee"]}'],
    ["more members than an object has room for", JSON.stringify({ ...Array(40).fill("x") })],
  ])("of %s is what JSON.parse makes of it, and made without it", (_name, text) => {
    const expected = JSON.parse(text);
    const parse = vi.spyOn(JSON, "parse");
    const made = value(text);
    expect(parse).not.toHaveBeenCalled();
    expect(made).toEqual(expected);
    expect(JSON.stringify(made)).toBe(JSON.stringify(expected));
  });

  it("has its members in canonical order", () => {
    expect(JSON.stringify(value('{"c": 1, "a": {"z": 1, "b": 2}}'))).toBe(
      '{"a":{"b":2,"z":1},"c":1}',
    );
  });

  it("is the number that the canonical form says", () => {
    expect(value("[-0, 1e2, 2.0, -0.0]")).toEqual([0, 100, 2, 0]);
    expect(Object.is((value("[-0]") as number[])[0], 0)).toBe(true);
  });

  it("keeps members apart whose names share a place among those met before", () => {
    for (let round = 0; round < 2; round += 1) {
      for (let at = 0; at < 5_000; at += 1) {
        const text = `{"k${at}":${at},"${at}k":1}`;
        expect(value(text)).toEqual({ [`k${at}`]: at, [`${at}k`]: 1 });
      }
    }
  });

  it("is a new one each time", () => {
    const text = '{"a":{"b":[1]}}';
    const first = value(text) as { a: { b: number[] } };
    first.a.b.push(2);
    expect(value(text)).toEqual({ a: { b: [1] } });
  });

  it.each([
    ["with an escape", '["a\\n"]'],
    ["with an escape behind the strings that were made", '{"a":"b","c":"\\u00e9"}'],
    ["with a line break between tokens", '{"a":\n1}'],
    ["that is long", textOf(1_025)],
  ])("of a text %s comes from JSON.parse", (_name, text) => {
    const expected = JSON.parse(text);
    const parse = vi.spyOn(JSON, "parse");
    expect(value(text)).toEqual(expected);
    expect(parse).toHaveBeenCalled();
  });

  it("of a text of 1,024 units is made still", () => {
    const parse = vi.spyOn(JSON, "parse");
    expect(value(textOf(1_024))).toEqual(["x".repeat(1_020)]);
    expect(parse).not.toHaveBeenCalled();
  });

  it.each([0, 1, 9, 10, 13, 31])("is none where a string has control character %i", (unit) => {
    const letter = String.fromCharCode(unit);
    expect(value(`{"a":"${letter}"}`)).toBeUndefined();
    expect(value(`{"a${letter}":1}`)).toBeUndefined();
    expect(value(`["${"x".repeat(40)}${letter}"]`)).toBeUndefined();
  });

  it("has the letter after the last control character, and DEL", () => {
    expect(value('[" \u007f"]')).toEqual([" \u007f"]);
  });
});

describe("the value of a member", () => {
  type Read = [key: string, read: FastRead | undefined][];
  const take = (into: Read, { key, read }: Member) => into.push([key, read]) > 0;
  const takeAtOnce = (into: Read, member: Member) =>
    member.read?.value !== "" && take(into, member);

  /** Undefined where the strict reader has to look. */
  const valuesOf = (text: string, taking = take) => {
    const read: Read = [];
    const isWhole = readMembers(text, DEFAULT_CANONICAL_LIMITS, "b", read, taking);
    return isWhole ? read.map(([key, found]) => [key, found?.value]) : undefined;
  };

  it("is made of the one that was asked for", () => {
    const parse = vi.spyOn(JSON, "parse");
    expect(valuesOf('{"a":{"x":1},"b": {"z": [1, true], "y": {"v": "w"}},"c":[2]}')).toEqual([
      ["a", undefined],
      ["b", { y: { v: "w" }, z: [1, true] }],
      ["c", undefined],
    ]);
    expect(valuesOf('{"b":[[],{}]}', takeAtOnce)).toEqual([["b", [[], {}]]]);
    expect(parse).toHaveBeenCalledTimes(1);
  });

  it("is the same whether it is asked for at once or when other members have been read", () => {
    const text = '{"a":1,"b": {"z": [1, -0, 1.5], "y": {"v": "w"}},"c":{"b":[2]}}';
    expect(valuesOf(text, take)).toEqual(valuesOf(text, takeAtOnce));
    expect(valuesOf(text)?.[1]).toEqual(["b", { y: { v: "w" }, z: [1, 0, 1.5] }]);
  });

  it("is not made where nobody asks for it, and only once where somebody does", () => {
    const parse = vi.spyOn(JSON, "parse");
    const read: Read = [];
    expect(readMembers('{"b":{"x":1},"c":2}', DEFAULT_CANONICAL_LIMITS, "b", read, take)).toBe(
      true,
    );
    expect(read.map(([, found]) => [found?.text, found?.keyCount, found?.depth])).toEqual([
      ['{"x":1}', 1, 1],
      [undefined, undefined, undefined],
    ]);
    expect(parse).not.toHaveBeenCalled();
    const made = read[0]?.[1]?.value;
    expect(read[0]?.[1]?.value).toBe(made);
    expect(parse).toHaveBeenCalledTimes(1);
  });

  it("is none where who takes a member reads another text meanwhile", () => {
    const reading = (into: Read, member: Member) =>
      readFast('{"z":1,"c":9}', DEFAULT_CANONICAL_LIMITS) !== undefined && take(into, member);
    expect(valuesOf('{"a":1,"b":{}}', reading)).toBeUndefined();
  });

  it("has keys of any length, of which the long ones are nobody's afterwards", () => {
    for (const length of [1, 63, 64, 65, 300]) {
      const key = "k".repeat(length);
      expect(valuesOf(`{"${key}":1,"b":{"${key}":2}}`)).toEqual([
        [key, undefined],
        ["b", { [key]: 2 }],
      ]);
    }
  });

  it("is none where who takes a member refuses it, or throws", () => {
    const throwing = () => {
      throw new SyntaxError("no string");
    };
    for (const taking of [() => false, throwing])
      expect(valuesOf('{"b":{}}', taking)).toBeUndefined();
  });

  it("comes from JSON.parse where a string has an escape, and is none where it is not JSON", () => {
    expect(valuesOf('{"a":"\\n","b":{"y":"\\u0041","x":"\\n"}}')).toEqual([
      ["a", undefined],
      ["b", { x: "\n", y: "A" }],
    ]);
    expect(valuesOf('{"b":{"y":"\u0001"}}')).toBeUndefined();
  });

  it.each(["1", '"x"', "null"])("is left open where it is %s", (text) => {
    expect(valuesOf(`{"b":${text}}`)).toEqual([["b", undefined]]);
  });
});
