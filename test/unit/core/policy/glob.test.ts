import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileGlobs } from "../../../../services/core/policy/glob.ts";

describe("a list of globs", () => {
  test.each([
    ["get_*", "get_order", true],
    ["get_*", "get_", true],
    ["get_*", "forget_order", false],
    ["*_order", "get_order", true],
    ["*_order", "get_orders", false],
    ["get_*_by_*", "get_order_by_id", true],
    ["get_*_by_*", "get_by_id", false],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["a*b*a", "aba", true],
    ["*b*", "b", true],
    ["*b*c", "bc", true],
    ["a*ab*a", "aba", false],
    ["*", "", true],
    ["exact", "exact", true],
    ["exact", "exactly", false],
    ["get_*|list_*", "list_orders", true],
    [" get_* | list_* ", "list_orders", true],
    ["a.c", "abc", false],
    ["**", "anything", true],
  ])("%s on %s: %s", (pattern, name, matches) => {
    expect(compileGlobs(pattern, false)(name)).toBe(matches);
  });

  test("is tried on the last segment where the tier wants that, and the glob has no separator", () => {
    const onLast = compileGlobs("delete_*", true);
    expect(["github/delete_file", "fs.delete_file", "delete_file"].map(onLast)).toEqual([
      true,
      true,
      true,
    ]);
    expect(onLast("github/undelete_file")).toBe(false);
    expect(compileGlobs("delete_*", false)("github/delete_file")).toBe(false);
    expect(compileGlobs("a/delete_*|x.y", true)("b/a/delete_1")).toBe(false);
  });

  test("is tried on what follows any separator, as clients of MCP write tool names", () => {
    const onLast = compileGlobs("delete_*|my__*", true);
    const held = [
      ...[
        "mcp__github__delete_file",
        "gh__delete_a",
        "a.b__delete_c",
        "a__b/delete_c",
        "fs.my__tool",
      ],
      ...["github:delete_file", "github::delete_file", "a___delete_b", "mcp__delete_x__v2"],
      ...["mcp__github__delete__file", "github/delete_file.v2"],
    ];
    expect(held.filter((name) => !onLast(name))).toEqual([]);
    const free = ["mcp__github__undelete", "mcp__gh_delete_x", "undelete__", "delete", "__"];
    expect(free.filter(onLast)).toEqual([]);
    expect(compileGlobs("delete_*", false)("mcp__gh__delete_x")).toBe(false);
    expect(compileGlobs("gh__delete_*", true)("mcp__gh__delete_x")).toBe(true);
  });

  test("matches what the same regular expression matches", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 6 });
    const names = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 });
    fc.assert(
      fc.property(letters, names, (pattern, name) => {
        const same = new RegExp(`^${pattern.replaceAll("*", ".*")}$`);
        expect(compileGlobs(pattern, false)(name)).toBe(same.test(name));
      }),
      { numRuns: 2_000 },
    );
  });
});
