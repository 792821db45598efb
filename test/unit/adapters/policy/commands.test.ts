import { describe, expect, it } from "vitest";
import { loadPolicy } from "../../../../services/adapters/policy/load.ts";

function problems(tool: object): readonly string[] {
  const loaded = loadPolicy({ tool_schemas: { bash: tool } });
  return loaded.ok ? [] : loaded.problems.map(({ path, remedy }) => `${path}: ${remedy}`);
}

describe("keys of an earlier form", () => {
  it.each([
    [{ variants: "posix_shell" }, "tool_schemas.bash.variants", "`commands: shell`"],
    [{ variants: "sql" }, "tool_schemas.bash.variants", "`commands: sql`"],
    [{ variants: { set: "http" } }, "tool_schemas.bash.variants.set", "`commands: shell`"],
    [{ variants: { classes: {} } }, "tool_schemas.bash.variants.classes", "rules of `commands`"],
    [{ variants: { session: false } }, "tool_schemas.bash.variants.session", "a key of `commands`"],
  ])("are refused with the new form: %j", (tool, path, remedy) => {
    const [first] = problems(tool);
    expect(first).toContain(`${path}: `);
    expect(first).toContain(remedy);
  });
});

describe("commands", () => {
  it("accept a language alone, and one text for a list", () => {
    const loaded = loadPolicy({
      tool_schemas: {
        bash: { commands: "shell" },
        sh: { commands: { rules: [{ run: "git push" }] } },
      },
    });
    expect(loaded.ok && loaded.document.tool_schemas).toEqual({
      bash: { commands: { language: "shell" } },
      sh: { commands: { rules: [{ run: ["git push"] }] } },
    });
  });

  it.each([
    [{ commands: "fish" }, "tool_schemas.bash.commands: write shell, git, sql, http or files"],
    [{ commands: { rule: [] } }, "tool_schemas.bash.commands.rule: did you mean `rules`?"],
    [{ commands: { rules: [{ run: [] }] } }, "tool_schemas.bash.commands.rules[0].run: "],
    [{ commands: { rules: [{ paths: "here" }] } }, "tool_schemas.bash.commands.rules[0].paths: "],
  ])("refuse %j", (tool, expected) => {
    expect(problems(tool)[0]).toContain(expected);
  });
});
