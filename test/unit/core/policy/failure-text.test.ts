import { describe, expect, test } from "vitest";
import {
  looksFailedByDefault,
  looksTransient,
} from "../../../../services/core/policy/failure-text.ts";

describe("an output is a failure in disguise", () => {
  test.each([
    '{"error":"not found"}',
    '{ "error" : {"code": 5} }',
    '{"Error": "x"}',
    "Error: no such file",
    "ERROR",
    "ValueError: bad date",
    "Traceback (most recent call last)",
    "  \n error while reading",
  ])("%j", (output) => {
    expect(looksFailedByDefault(output)).toBe(true);
  });

  test.each([
    '{"error":null,"id":1}',
    '{"error": null, "id": 1}',
    '{ "error" :  false }',
    '{"error":\n ""}',
    '{"error": {}}',
    '{"error": [ ]}',
    '{"id":1,"error":"of a line inside"}',
    "errors: none",
    "No error was found",
    "",
  ])("not %j", (output) => {
    expect(looksFailedByDefault(output)).toBe(false);
  });
});

test("two thousand characters are looked at", () => {
  for (const [looks, word] of [
    [looksFailedByDefault, "error"],
    [(text: string) => looksTransient(null, text), "timeout"],
  ] as const) {
    const within = " ".repeat(2_000 - word.length) + word;
    expect(looks(within)).toBe(true);
    expect(looks(`${within} goes on`)).toBe(true);
    expect(looks(` ${within} goes on`)).toBe(false);
  }
});
