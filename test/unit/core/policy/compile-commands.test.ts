import { describe, expect, test } from "vitest";
import { compilePolicy } from "../../../../services/core/policy/compile-policy.ts";
import { toolOfCall } from "../../../../services/core/policy/compiled.ts";
import { UNKNOWN_SPENDING } from "../../../../services/core/policy/conditions/spending.ts";
import type {
  CommandsDocument,
  PolicyDocument,
} from "../../../../services/core/policy/document.ts";
import { capabilities, compiled } from "../../../support/core/compile.ts";
import { judge, TIERS, toolFor } from "../../../support/core/judge.ts";

function problemsOf(commands: CommandsDocument, more: object = {}): readonly string[] {
  const tool_schemas = { it: { commands, ...more } };
  const document: PolicyDocument = { authorization: TIERS, tool_schemas };
  const result = compilePolicy(document, capabilities, { revision: "r", keyId: "k" });
  return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
}

describe("a command", () => {
  const RULES: CommandsDocument = {
    unclear: "ask",
    rules: [
      { run: ["rm|chmod"], writes: "root_or_home", tier: "never" },
      { run: ["rm"], writes: "workspace", tier: "ask" },
      { run: ["cp|rm|>"], tier: "free" },
      { run: ["npm run {build|test}", "git checkout -b"], tier: "free" },
      { run: ["./scripts/*.sh"], tier: "free" },
      { run: ["mv"], paths: "outside", tier: "free" },
    ],
  };
  const tier = (command: string) => judge(RULES)({ command })[0];

  test.each([
    ["cp a b", "free"],
    ["cp a ../b", "ask"],
    ["cp .env b", "ask"],
    ["cp a .git/hooks/b", "ask"],
    ["cp --frobnicate a b", "ask"],
    ["mv a ../b", "free"],
    ["mv ../.ssh a", "ask"],
    ["rm -rf dist", "free"],
    ["rm -rf .", "ask"],
    ["rm -rf ~/src", "never"],
    ["rm --frobnicate ~", "never"],
    ["cd src && rm ../../a", "ask"],
    ["npm run build", "free"],
    ["npm run deploy", "ask"],
    ["git checkout -b a", "free"],
    ["git checkout a", "ask"],
    ["./scripts/check.sh a", "free"],
    ["./scripts/check.sh --out=/etc/a", "ask"],
    ["./other.sh", "ask"],
    ["ls > a", "free"],
    ["ls > ~/a", "ask"],
    ["cat a | ./scripts/check.sh", "free"],
    ["timeout 5 npm run build", "free"],
    ["timeout 5 rm -rf /", "never"],
    ["find src -name a | xargs cat", null],
    ["find src -name a | xargs rm", "free"],
    ["cat names | xargs rm", "ask"],
    ["find / -name a | xargs rm", "never"],
    ["cat a", null],
    ["cat /etc/shadow", "ask"],
    ["frob a", "ask"],
    ["", null],
  ])("%s: %s", (command, expected) => {
    expect(tier(command)).toBe(expected);
  });

  test("given as a list of words is judged without a shell, and is unclear where it is no text", () => {
    const of = judge(RULES);
    expect(of({ command: ["cat", "a b"] })).toEqual([null, true]);
    expect(of({ command: ["sh", "-c", "ls"] })).toEqual(["ask", false]);
    for (const args of [{}, { command: 7 }, { command: null }, { cmd: "ls" }]) {
      expect(of(args)).toEqual(["ask", false]);
    }
  });

  test("is shown with the rule that decides and the reason", () => {
    const policy = compiled({
      authorization: TIERS,
      tool_schemas: {
        it: { commands: { ...RULES, rules: [{ run: ["rm"], tier: "never", why: "it is gone" }] } },
      },
    });
    const { commandsOf } = policy.tool("it");
    const notes = commandsOf?.({ command: "ls && rm a; frob" }, UNKNOWN_SPENDING) ?? [];
    const path = "tool_schemas.it.commands";
    expect(notes.map(({ text, rule, why }) => [text, rule, why])).toEqual([
      ["ls", path, null],
      ["rm a", `${path}.rules[0]`, "it is gone"],
      ["frob", `${path}.unclear`, "the program frob is not known"],
    ]);
  });
});

describe("what a person is shown of a call with commands", () => {
  const call = (command: string) => toolFor({ unclear: "ask" })({ command });
  const SHOWN_COMMANDS = 120;

  test("names the commands that further calls are of, up to a bound", () => {
    const one = (length: number) => `frob ${"x".repeat(length - "frob ".length)}`;
    for (const length of [SHOWN_COMMANDS - 1, SHOWN_COMMANDS, SHOWN_COMMANDS + 1]) {
      const shown = Math.min(length, SHOWN_COMMANDS);
      expect(call(one(length)).variant).toBe(one(length).slice(0, shown));
    }
  });

  test("gives three reasons at most", () => {
    const reasonsOf = (command: string) => call(command).why?.split("; ").length;
    expect(
      [2, 3, 4].map((count) => reasonsOf("a1; b2; c3; d4".split("; ").slice(0, count).join("; "))),
    ).toEqual([2, 3, 3]);
  });
});

describe("the tier of an unclear command", () => {
  test("is the first of the strictest that rules name", () => {
    const tiers = ["one", "two"].map((name) => ({ name, pattern: "-", action: "hitl" as const }));
    const policy = compiled({
      authorization: { tiers },
      tool_schemas: {
        it: {
          commands: {
            rules: [
              { run: ["rm"], tier: "one" },
              { run: ["mv"], tier: "two" },
            ],
          },
        },
      },
    });
    const tool = toolOfCall(policy, "it", { command: "ls $(id)" });
    expect(tool.tier.name).toBe("one");
  });

  test.each<readonly [CommandsDocument, string | null, string]>([
    [{}, null, "allow"],
    [{ rules: [{ run: ["ls"] }] }, "ask", "hitl"],
    [{ rules: [{ run: ["ls"], tier: "free" }] }, "ask", "hitl"],
    [{ rules: [{ run: ["rm"], tier: "never" }] }, "never", "deny"],
    [{ rules: [{ run: ["rm"], tier: "never" }], unclear: "ask" }, "ask", "hitl"],
    [{ rules: [{ run: ["rm"], tier: "ask" }], unclear: "never" }, "never", "deny"],
  ])("%j: %s", (commands, name, action) => {
    expect(toolFor(commands)({ command: "ls $(id)" }).tier).toMatchObject({ name, action });
  });

  test("is no laxer than a rule that may apply to it", () => {
    const tier = judge({ rules: [{ run: ["git push"], tier: "ask" }], unclear: "never" });
    expect(tier({ command: "git push" })[0]).toBe("ask");
    expect(tier({ command: "git push --frobnicate" })[0]).toBe("never");
  });
});

describe("statements, requests and files", () => {
  test("are allowed where a rule names all their tables, and held where a rule names one", () => {
    const lax = judge({
      language: "sql",
      unclear: "ask",
      rules: [{ statement: ["insert"], tables: ["logs"], tier: "free" }],
    });
    expect(lax({ query: "insert into logs values (1)" })[0]).toBe("free");
    expect(lax({ query: "insert into logs select * from users" })[0]).toBe("ask");
    expect(lax({ query: "insert into logs values (1); drop table users" })[0]).toBe("ask");
    expect(lax({ query: "select * from users" })).toEqual([null, true]);
    const strict = judge({ language: "sql", rules: [{ tables: ["users"], tier: "never" }] });
    expect(strict({ query: "select * from a join users on true" })[0]).toBe("never");
  });

  test("are judged by method, host and path", () => {
    const of = judge({
      language: "http",
      unclear: "ask",
      rules: [{ method: ["POST|PUT"], host: ["api.example.com"], path: ["/a/*"], tier: "free" }],
    });
    const url = "https://api.example.com/a/b";
    expect(of({ method: "GET", url })).toEqual([null, true]);
    expect(of({ method: "post", url })[0]).toBe("free");
    expect(of({ method: "POST", url: "https://api.example.com/a/../b" })[0]).toBe("ask");
    expect(of({ method: "POST", url: "https://evil.example/a/b" })[0]).toBe("ask");
    expect(of({ method: "GET", url, headers: { "X-HTTP-Method-Override": "DELETE" } })[0]).toBe(
      "ask",
    );
  });

  test("of a file tool keep the tool's own entry inside the workspace", () => {
    const policy = compiled({
      authorization: TIERS,
      tool_schemas: {
        it: {
          read_only: true,
          commands: { language: "files", unclear: "ask", workspace: "/repo" },
        },
      },
    });
    const tier = (path: string | readonly string[]) => {
      const { tier: callTier, isRead } = toolOfCall(policy, "it", { path: path as string });
      return [callTier.name, isRead];
    };
    expect(tier("/repo/src/a.ts")).toEqual([null, true]);
    expect(tier(["a", "src/../b"])).toEqual([null, true]);
    expect(tier(["a", "/repo/../etc/passwd"])).toEqual(["ask", true]);
    expect(tier("src/.ENV.local")).toEqual(["ask", true]);
  });

  test("of git are one command, with or without the word `git`", () => {
    const of = judge({
      language: "git",
      unclear: "ask",
      rules: [{ run: ["git add"], tier: "free" }],
    });
    expect(of({ command: "add a" })[0]).toBe("free");
    expect(of({ command: "git log" })).toEqual([null, true]);
    expect(of({ command: ["log", "-3"] })).toEqual([null, true]);
    expect(of({ command: "log; rm a" })[0]).toBe("ask");
  });
});

describe("a problem of a document is reported with its path", () => {
  test.each<readonly [CommandsDocument, string]>([
    [{ rules: [{ run: ["ls | head"] }] }, "rules[0].run: has a space beside `|`"],
    [{ rules: [{ run: ["npm run {a"] }] }, "rules[0].run: has an empty alternative or a brace"],
    [{ rules: [{ run: ["ls"], tier: "no" }] }, "rules[0].tier: `no` is not the name of a tier"],
    [{ unclear: "no" }, "unclear: `no` is not the name of a tier"],
    [
      { rules: [{ run: ["ls"], effects: [{ resource: "{", kind: "send" }] }] },
      "rules[0].effects[0].resource: ",
    ],
    [
      { rules: [{ run: ["rm"], tier: "free" }], examples: { held: ["rm a"] } },
      "examples.held[0]: `rm a` is allowed, not held: `rm a` by tool_schemas.it.commands.rules[0]",
    ],
    [
      { rules: [{ run: ["rm"], tier: "free" }], examples: { allowed: ["rm a; frob"] } },
      "examples.allowed[0]: `rm a; frob` is held, not allowed: `frob` by tool_schemas.it.commands.unclear (the program frob is not known)",
    ],
  ])("%j: %s", (commands, expected) => {
    const [problem, ...more] = problemsOf(commands);
    expect(problem).toContain(`tool_schemas.it.commands.${expected}`);
    expect(more).toEqual([]);
  });

  test("a tool has either commands or variants", () => {
    expect(problemsOf({}, { variants: { argument: "a" } })).toEqual([
      "tool_schemas.it.variants: says the same as `commands`: a tool has one of the two",
    ]);
  });
});
