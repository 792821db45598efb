// Conversations with tools whose calls read, run or write, depending on an argument.
import { describe, expect, test } from "vitest";
import type {
  CommandsDocument,
  PolicyDocument,
  ToolDocument,
} from "../../../../services/core/policy/document.ts";
import { TIERS } from "../../../support/core/judge.ts";
import { startStory } from "../../../support/decider-spec.ts";

function policy(commands: CommandsDocument, more: ToolDocument = {}): PolicyDocument {
  return { authorization: TIERS, tool_schemas: { bash: { ...more, commands }, edit: {} } };
}

const SHELL = policy({ language: "shell" });

describe("calls of a shell", () => {
  test("that read are answered from memory until something is written", () => {
    const story = startStory(SHELL);
    story.done("bash", { command: "cat a" }, "old");
    expect(story.refused("bash", { command: "cat a" }).answered).not.toBeNull();
    story.done("bash", { command: "touch b" });
    story.allowed("bash", { command: "cat a" });
  });

  test("are read again once a session is in another directory", () => {
    const story = startStory(SHELL);
    story.done("bash", { command: "cat a" }, "old");
    story.done("bash", { command: "cd src" });
    story.allowed("bash", { command: "cat a" });
    const afresh = startStory(policy({ session: false }));
    afresh.done("bash", { command: "cat a" }, "old");
    afresh.done("bash", { command: "cd src && ls" });
    expect(afresh.reason("bash", { command: "cat a" })).toBe("duplicate_call");
  });

  test("are refused at the second write, and at the third run", () => {
    const story = startStory(SHELL);
    story.done("bash", { command: "rm -f a" }, "");
    expect(story.reason("bash", { command: "rm -f a" })).toBe("duplicate_call");
    story.done("bash", { command: "pytest" }, "1 failed");
    story.done("bash", { command: "pytest" }, "1 failed");
    expect(story.reason("bash", { command: "pytest" })).toBe("loop_repeat");
  });

  test("are no loop after an edit", () => {
    const story = startStory(SHELL);
    for (let round = 0; round < 6; round++) {
      story.done("edit", { line: round });
      story.done("bash", { command: "pytest" }, "1 failed");
    }
  });

  test("may have changed something even if they failed", () => {
    const story = startStory(SHELL);
    story.done("bash", { command: "cat a" }, "old");
    story.failed("bash", { command: "touch b" });
    story.allowed("bash", { command: "cat a" });
  });

  test("are one call in any spelling of equal words", () => {
    for (const command of ['rm --force a "b"', "rm -f a b;", "rm -f a b # again", "  rm -f a b"]) {
      const story = startStory(SHELL);
      story.done("bash", { command: "rm -f './a'  b" });
      expect(story.reason("bash", { command })).toBe("duplicate_call");
      story.allowed("bash", { command: "rm -f b a" });
    }
  });

  test("are held by a rule's tier, give its reason, and bind an approval to it", () => {
    const story = startStory(
      policy({ rules: [{ run: ["rm"], tier: "ask", why: "nothing brings it back" }] }),
    );
    story.allowed("bash", { command: "cat a" });
    const hold = story.held("bash", { command: "cat a && rm a" });
    expect(hold.policy.tier).toBe("ask");
    expect(hold.message).toContain("`rm a`: nothing brings it back.");
    expect(story.approved(hold)).toMatchObject({ type: "allowed", policy: { tier: "ask" } });
  });

  test("are denied with the rule's reason, or with the part that is not understood", () => {
    const story = startStory(
      policy({ rules: [{ run: ["rm"], tier: "never", why: "nothing brings it back" }] }),
    );
    const message = (command: string) => story.refused("bash", { command }).refusal.message;
    expect(message("rm a")).toContain("The tier `never` denies it: `rm a`: nothing brings it back");
    expect(message("echo $(id)")).toContain("command substitution");
  });

  test("have tool and arguments as their identity, unless a rule says otherwise", () => {
    const story = startStory(
      policy({
        unclear: "free",
        rules: [{ run: ["deploy"], canonical_fields: ["target"], repeatable: false }],
      }),
    );
    story.done("bash", { command: "deploy a", target: "web" });
    expect(story.reason("bash", { command: "deploy b", target: "web" })).toBe("duplicate_call");
    story.allowed("bash", { command: "rm a", target: "web" });
  });
});

test("statements of SQL are one call in any spelling of equal words", () => {
  const story = startStory(policy({ language: "sql" }));
  story.done("bash", { query: "delete from a where id = 1" });
  for (const query of ["DELETE FROM a WHERE id = 1;", "delete /* it */ from a\nwhere id=1"]) {
    expect(story.reason("bash", { query })).toBe("duplicate_call");
  }
  story.allowed("bash", { query: "delete from a where id = 2" });
});

test("a risk without a tier that holds more applies to whole names alone", () => {
  const story = startStory({
    authorization: TIERS,
    tool_schemas: {
      meta: {
        variants: {
          argument: "tool_name",
          rules: [
            { like: "delete_*", risk_level: "HIGH" },
            { match: "^gh/", tier: "never" },
          ],
          otherwise: { risk_level: "HIGH" },
        },
      },
    },
  });
  story.held("meta", { tool_name: "delete_x" });
  expect(story.reason("meta", { tool_name: "gh/delete_x" })).toBe("tier_denied");
});
