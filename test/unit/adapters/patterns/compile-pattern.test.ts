import { describe, expect, it } from "vitest";
import { compilePattern } from "../../../../services/adapters/patterns/compile-pattern.ts";

function test(pattern: string, text: string, ignoreCase = false): boolean {
  const compiled = compilePattern(pattern, { ignoreCase });
  if (!compiled.ok) throw new Error(compiled.problem);
  return compiled.test(text);
}

describe("compilePattern", () => {
  it.each([
    ["^Error:", "Error: no such order", true],
    ["^Error:", "no Error: here", false],
    ["^\\d{4}-\\d{2}$", "2026-01", true],
    ["^\\d{4}-\\d{2}$", "2026-01\n", false],
    ["\\bagain\\b", "try it again now", true],
    ["\\u0041", "A", true],
    ["\\/items\\/", "/items/7", true],
    ["(?<year>\\d{4})", "in 2026", true],
  ])("tests %s on %j: %s", (pattern, text, isMatch) => {
    expect(test(pattern, text)).toBe(isMatch);
  });

  it("ignores case only where requested", () => {
    expect(test("different approach", "A Different Approach")).toBe(false);
    expect(test("different approach", "A Different Approach", true)).toBe(true);
  });

  it("lets a dot match line ends only where requested", () => {
    const matches = [{}, { dotAll: true }, { dotAll: true, ignoreCase: true }].map((options) => {
      const compiled = compilePattern("a.*B", options);
      return compiled.ok && [compiled.test("a\n\r\u2028B"), compiled.test("A\nb")];
    });
    expect(matches).toEqual([
      [false, false],
      [true, false],
      [true, true],
    ]);
  });

  it("finishes where a backtracking engine would not", () => {
    expect(test("^(a+)+$", `${"a".repeat(50_000)}!`)).toBe(false);
  });

  it.each([
    ["(?=a)b", "look-ahead and look-behind are not supported: they cannot run in linear time"],
    ["(?<!a)b", "look-ahead and look-behind are not supported: they cannot run in linear time"],
    ["(a)\\1", "back-references are not supported: they cannot run in linear time"],
    ["[a", "not a regular expression that runs in linear time: missing closing ]: `[a`"],
    ["a".repeat(2_001), "the pattern is longer than 2000 characters"],
  ])("refuses %.20s", (pattern, problem) => {
    expect(compilePattern(pattern)).toEqual({ ok: false, problem });
  });
});
