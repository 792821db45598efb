import { describe, expect, test } from "vitest";
import { compilePolicy } from "../../../../services/core/policy/compile-policy.ts";
import type { PolicyDocument, ToolDocument } from "../../../../services/core/policy/document.ts";
import { capabilities } from "../../../support/core/compile.ts";

function pathsOf(document: PolicyDocument): readonly string[] {
  const result = compilePolicy(document, capabilities, { revision: "sha256:x", keyId: "k" });
  return result.ok ? [] : result.problems.map(({ path }) => path);
}

describe("a value that does not compile is reported with its path", () => {
  test.each<readonly [string, ToolDocument]>([
    [
      "effects[1].resource",
      {
        effects: [
          { resource: "a", kind: "send" },
          { resource: "{", kind: "send" },
        ],
      },
    ],
    ["reads[0]", { reads: ["a/{"] }],
    ["input_schema", { input_schema: { type: "nonsense" } }],
    ["error_patterns[0]", { error_patterns: ["("] }],
    ["normalizers.a", { normalizers: { a: [{ name: "to_nothing", arguments: [] }] } }],
  ])("%s", (path, tool) => {
    expect(pathsOf({ tool_schemas: { tool } })).toEqual([`tool_schemas.tool.${path}`]);
  });

  test("all problems are reported at once", () => {
    const bad: ToolDocument = { reads: ["}"], error_patterns: ["["] };
    expect(pathsOf({ tool_schemas: { a: bad, b: bad }, unknown_tools: "nobody" })).toHaveLength(5);
  });
});

test("a policy without problems compiles to the same revision each time", () => {
  const document: PolicyDocument = { tool_schemas: { a: { read_only: true } } };
  const twice = [1, 2].map(() => {
    const result = compilePolicy(document, capabilities, { revision: "sha256:x", keyId: "k" });
    return result.ok ? JSON.stringify([result.policy, result.policy.tool("a")]) : "";
  });
  expect(twice[0]).toBe(twice[1]);
  expect(twice[0]).toContain("sha256:x");
});
