import { describe, expect, test } from "vitest";
import type {
  PolicyDocument,
  ToolDocument,
  VariantsDocument,
} from "../../../../services/core/policy/document.ts";
import { given, MINUTE } from "../../../support/decider-spec.ts";

const TIERS: NonNullable<PolicyDocument["authorization"]> = {
  tiers: [
    { name: "ask", pattern: "no-one", action: "hitl", expires_ms: MINUTE },
    { name: "free", pattern: "nothing", action: "allowlist" },
    { name: "never", pattern: "nobody", action: "deny" },
  ],
};

function policy(variants: VariantsDocument, more: ToolDocument = {}): PolicyDocument {
  return { authorization: TIERS, tool_schemas: { bash: { ...more, variants }, edit: {} } };
}

const SHELL = policy({ set: "posix_shell" });

describe("calls of a composite tool", () => {
  test("that read are answered from memory until something is written", () => {
    const story = given(SHELL);
    story.done("bash", { command: "cat /a" }, "old");
    expect(story.refused("bash", { command: "cat /a" }).answered).not.toBeNull();
    story.done("bash", { command: "touch /b" });
    story.allowed("bash", { command: "cat /a" });
  });

  test("that read where the session is run each time, and are a loop at the third", () => {
    const story = given(SHELL);
    story.done("bash", { command: "ls" }, "a");
    story.done("bash", { command: "ls" }, "a");
    expect(story.reason("bash", { command: "ls" })).toBe("loop_repeat");
  });

  test("that write are refused at the second, those that run something at the third", () => {
    const story = given(SHELL);
    story.done("bash", { command: "rm -f a" }, "");
    expect(story.reason("bash", { command: "rm -f a" })).toBe("duplicate_call");
    story.done("bash", { command: "pytest" }, "1 failed");
    story.done("bash", { command: "pytest" }, "1 failed");
    expect(story.reason("bash", { command: "pytest" })).toBe("loop_repeat");
  });

  test("are no loop after an edit", () => {
    const story = given(SHELL);
    for (let round = 0; round < 6; round++) {
      story.done("edit", { line: round });
      story.done("bash", { command: "pytest" }, "1 failed");
    }
  });

  test("that failed may have changed something all the same", () => {
    const story = given(SHELL);
    story.done("bash", { command: "cat /a" }, "old");
    story.failed("bash", { command: "make a" });
    story.allowed("bash", { command: "cat /a" });
  });

  test("that fail in one way are refused at the fourth", () => {
    const story = given(SHELL);
    for (let n = 0; n < 3; n++) story.failed("bash", { command: "make a" });
    expect(story.reason("bash", { command: "make a" })).toBe("failure_streak");
  });

  test("are held by their own tier, and an approval is bound to it", () => {
    const asked = policy({ set: "posix_shell", classes: { write: { tier: "ask" } } });
    const story = given(asked);
    story.allowed("bash", { command: "cat /a" });
    const hold = story.held("bash", { command: "rm a" });
    expect(hold.tier).toBe("ask");
    expect(story.approved(hold)).toMatchObject({ type: "allowed", tier: "ask" });
  });

  test("keep their identity: tool and arguments, unless a variant says otherwise", () => {
    const story = given(
      policy({
        set: "posix_shell",
        rules: [
          { match: "^deploy", canonical_fields: ["target"], read_only: false, repeatable: false },
        ],
      }),
    );
    story.done("bash", { command: "deploy a", target: "web" });
    expect(story.reason("bash", { command: "deploy b", target: "web" })).toBe("duplicate_call");
    story.allowed("bash", { command: "rm a", target: "web" });
  });
});

describe("a lax rule", () => {
  const lax = (set: "git" | "sql", argument: string, match: string) =>
    given(
      policy({
        set,
        argument,
        classes: { write: { tier: "ask" } },
        rules: [{ match, tier: "free" }],
      }),
    );

  test("of git that knows one spelling alone frees no command in it", () => {
    lax("git", "command", "^push").allowed("bash", { command: "push origin" });
    lax("git", "command", "^'push'").held("bash", { command: "'push' origin" });
  });

  test("of SQL that knows a statement without what is around it frees no text with more", () => {
    lax("sql", "query", "^DROP").allowed("bash", { query: "DROP TABLE a" });
    lax("sql", "query", "^DROP").held("bash", { query: "-- it\nDROP TABLE a" });
  });
});

test("a risk that holds no more than what follows all rules knows whole names alone", () => {
  const story = given({
    ...policy({
      argument: "tool_name",
      rules: [
        { like: "delete_*", risk_level: "HIGH" },
        { match: "^gh/", tier: "never" },
      ],
      otherwise: { risk_level: "HIGH" },
    }),
  });
  story.held("bash", { tool_name: "delete_x" });
  expect(story.reason("bash", { tool_name: "gh/delete_x" })).toBe("tier_denied");
});
