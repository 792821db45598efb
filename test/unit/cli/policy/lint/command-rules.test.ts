import { expect, test } from "vitest";
import { lint } from "../../../../support/policy/linted.ts";

const TIERS = `authorization:
  tiers:
    - { name: ask, pattern: none, action: hitl, expires_ms: 1000 }
    - { name: free, pattern: none, action: allowlist }
`;

/** `code: message` of the findings on one tool's rules. */
function listFindings(commands: string): readonly string[] {
  const codes = ["allows-anything", "unfit-rule", "open-commands"];
  return lint(`${TIERS}tool_schemas: { sh: { commands: ${commands} } }\n`)
    .filter(({ code }) => codes.includes(code))
    .map(({ code, message }) => `${code}: ${message}`);
}

const rules = (...texts: readonly string[]) => listFindings(`{ rules: [${texts.join(", ")}] }`);

test.each(["bash", "python3", "python -c", "npx", "sudo", "npm exec", "env", "'*'"])(
  "finds that a rule for `%s` allows anything",
  (run) => {
    const [first] = rules(`{ run: ${run}, tier: free }`);
    expect(first).toContain("allows-anything: ");
    expect(rules(`{ run: ${run}, tier: ask }`)).toEqual([]);
  },
);

test.each(["python -m pytest", "npx tsc", "git status", "npm run build", "./check.sh"])(
  "accepts a rule for `%s`, which says what runs",
  (run) => {
    expect(rules(`{ run: ${run}, tier: free }`)).toEqual([]);
  },
);

test.each([
  ["{ run: git psh, tier: ask }", "`git` has no `psh` in the tables of programs"],
  ["{ run: git push --frobnicate, tier: ask }", "`git` has no `--frobnicate`"],
  ["{ tier: ask }", "matches every call"],
  ["{ run: ls, statement: select }", "`statement` does not apply to `language: shell`"],
])("finds a rule that matches nothing, or everything: %s", (rule, message) => {
  expect(rules(rule).join()).toContain(message);
});

test.each([
  ["{ run: git push, tier: ask }, { run: git push --force, tier: ask }", 1],
  ["{ run: rm, tier: free }, { run: rm -r, tier: free }", 1],
  // The first matches only files inside the workspace.
  ["{ run: rm, tier: free }, { run: rm, tier: ask, writes: root_or_home }", 0],
  ["{ run: rm, tier: ask, writes: root_or_home }, { run: rm, tier: free }", 0],
  ["{ run: rm -r, tier: ask }, { run: rm, tier: free }", 0],
])("finds a rule behind one that matches all of its commands: %s", (texts, count) => {
  const reached = rules(texts).filter((one) => one.includes("is never reached"));
  expect(reached).toHaveLength(count);
});

test("warns of a tool without rules and `unclear`, whose own tier gets unclear commands", () => {
  const findings = lint(`${TIERS}tool_schemas: { sh: { commands: shell } }\n`);
  const open = findings.filter(({ code }) => code === "open-commands");
  expect(open.map(({ severity }) => severity)).toEqual(["warning"]);
  expect(listFindings("{ unclear: ask }")).toEqual([]);
});
