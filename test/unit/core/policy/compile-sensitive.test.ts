import { describe, expect, test } from "vitest";
import { compilePolicy } from "../../../../services/core/policy/compile-policy.ts";
import { toolOfCall } from "../../../../services/core/policy/compiled.ts";
import type { ToolDocument } from "../../../../services/core/policy/document.ts";
import { capabilities, compiled } from "../../../support/core/compile.ts";

const options = { revision: "sha256:test", keyId: "k1" };

function problems(tool: ToolDocument): readonly string[] {
  const result = compilePolicy({ tool_schemas: { t: tool } }, capabilities, options);
  return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
}

describe("sensitive arguments", () => {
  test("are searched from the outside in, in a tool and in each of its variants", () => {
    const policy = compiled({
      tool_schemas: {
        t: { sensitive: ["a.b.c", "d", "a.b"], variants: { argument: "mode" } },
        u: {},
      },
    });
    const tool = policy.tool("t");
    expect(tool.sensitive).toEqual([["d"], ["a", "b"], ["a", "b", "c"]]);
    expect(toolOfCall(policy, "t", { mode: "x" }).sensitive).toEqual(tool.sensitive);
    expect(policy.hidesArguments).toBe(true);
    expect(policy.tool("u").sensitive).toEqual([]);
  });

  test("cost nothing where no tool declares them", () => {
    expect(compiled({ tool_schemas: { t: { sensitive: [] } } }).hidesArguments).toBe(false);
  });

  test.each(["", "a..b", ".a", "a.", "$.card", "cards[0].number", "cards.*.n", "{card}", " card"])(
    "cannot be declared by `%s`, which names no argument",
    (path) => {
      const [problem] = problems({ sensitive: ["fine", path] });
      expect(problem).toBe(
        `tool_schemas.t.sensitive[1]: \`${path}\` names no argument: write member names with dots, ` +
          "`customer.card`; a list is hidden as a whole",
      );
    },
  );

  test.each<readonly [string, ToolDocument]>([
    ["mode", { variants: { argument: "mode" } }],
    ["body", { variants: { argument: "body.sql" } }],
    ["body.sql", { variants: { argument: "body" } }],
    ["command", { commands: { language: "shell" } }],
  ])("cannot include `%s`, which says what the call does", (path, tool) => {
    const sensitiveProblems = problems({ ...tool, sensitive: [path] });
    expect(sensitiveProblems).toEqual([
      `tool_schemas.t.sensitive[0]: \`${path}\` says what a call does, and cannot be hidden: what a call ` +
        "does could not be read from the journal",
    ]);
    expect(problems({ ...tool, sensitive: ["other"] })).toEqual([]);
  });

  test("cannot include the idempotency key, without which identity is computed", () => {
    const tool = { idempotency_argument: "options.key" };
    expect(problems({ ...tool, sensitive: ["options"] })).toEqual([
      "tool_schemas.t.sensitive[0]: `options` holds the idempotency argument: name its other members",
    ]);
    expect(problems({ ...tool, sensitive: ["options.key", "options.card", "opt"] })).toEqual([]);
  });
});
