// The text form of outputs, and which of them can be read back as they were returned.
import { describe, expect, test } from "vitest";
import {
  isNearText,
  readOutput,
  writeOutput,
} from "../../../../services/client/values/output-text.ts";

class Rows extends Array<unknown> {
  count = 0;
}

class Row {
  id = 1;
}

const CYCLIC: { self?: unknown } = {};
CYCLIC.self = CYCLIC;

function branded(value: object): object {
  return Object.defineProperty(value, Symbol.for("brand"), { value: true });
}

describe("an output that JSON cannot represent", () => {
  test.each<[string, unknown, string]>([
    ["writes large numbers as digits", { id: 5n, amount: 100 }, '{"id":"5","amount":100} '],
    ["writes dates as text", { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"} '],
    [
      "names the class of a value that it leaves out",
      { id: 1, more: new Map([[1, 2]]) },
      '{"id":1,"more":"[Map]"} ',
    ],
    [
      "writes the message of an error",
      { error: new TypeError("no") },
      '{"error":"[TypeError: no]"} ',
    ],
    ["writes the members of an object of a class", new Row(), '{"id":1} '],
    ["writes the result of toJSON", Buffer.from("a"), '{"type":"Buffer","data":[97]} '],
    ["leaves functions out", { id: 1, more: () => 1 }, '{"id":1} '],
  ])("%s, and is marked", (_what, value, text) => {
    expect(writeOutput(value)).toEqual({ kind: "near", text });
    expect(isNearText(text)).toBe(true);
    expect(readOutput(text)).toEqual(JSON.parse(text));
  });

  test.each<[string, unknown]>([
    ["a cycle", CYCLIC],
    ["a map", new Map([["a", 1]])],
    ["a set", new Set([1])],
    ["an error", new Error("no")],
    ["a promise", Promise.resolve(1)],
    ["an object with nothing to see", new (class Hidden {})()],
    ["a function", () => 1],
    ["a symbol", Symbol("a")],
    [
      "an object whose member throws when it is read",
      {
        get id() {
          throw new Error("no");
        },
      },
    ],
    ["a proxy that was revoked", revoked()],
  ])("is lost if it is %s", (_what, value) => {
    expect(writeOutput(value).kind).toBe("lost");
  });

  test.each<[string, unknown]>([
    ["a list with members", Object.assign([1, 2], { count: 2 })],
    ["a list with a member out of sight", Object.defineProperty([1], "count", { value: 1 })],
    ["a match", /a(b)/.exec("ab")],
    ["a list of a class", Rows.from([1])],
    ["a list with holes", holed()],
    ["a list with as many members as holes", Object.assign(holed(), { count: 1 })],
    ["an object with a brand", branded({ id: 1 })],
    ["a list with a brand", branded([1])],
    ["an object with a member out of sight", Object.defineProperty({}, "response", { value: 1 })],
    ["one of those further in", { rows: [Object.assign([1], { count: 1 })] }],
  ])("is not exact if it is %s", (_what, value) => {
    expect(writeOutput(value).kind).toBe("near");
  });
});

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function holed(): unknown[] {
  const list: unknown[] = [];
  list[1] = 1;
  return list;
}

describe("a text", () => {
  test.each(['{"id":1} ', "1 ", "ends in a space ", '"quoted" '])(
    "that looks like a mark (%j) is read back unchanged",
    (text) => {
      const written = writeOutput(text);
      expect(written.kind).toBe("exact");
      const writtenText = "text" in written ? written.text : "";
      expect(isNearText(writtenText)).toBe(false);
      expect(readOutput(writtenText)).toBe(text);
    },
  );
});
