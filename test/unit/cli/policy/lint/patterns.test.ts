import { describe, expect, it, test } from "vitest";
import { lint } from "../../../../support/policy/linted.ts";

const TIERS =
  "authorization:\n  tiers: [{ name: ask, pattern: ask, action: hitl, expires_ms: 1000 }]\n";

/** `path: message` of the findings with this code. */
function listFindings(code: string, text: string): readonly string[] {
  return lint(TIERS + text)
    .filter((finding) => finding.code === code)
    .map(({ severity, path, message }) => `${severity} ${path}: ${message}`);
}

describe("patterns that are not globs", () => {
  const rules = (like: string) =>
    `tool_schemas: { run: { variants: { argument: name, rules: [{ like: '${like}', tier: ask }] } } }`;

  it.each([
    ["kill: { tools: ['^delete_.*$'] }", "kill.tools[0]", "looks like a regular expression"],
    ["kill: { tools: [a, 'drop_*, wipe_*'] }", "kill.tools[1]", "has a comma"],
    ["kill: { agents: ['^batch.*'] }", "kill.agents[0]", "looks like a regular expression"],
    ["kill: { agents: ['a, b'] }", "kill.agents[0]", "is one glob with a comma"],
    ["kill: { tenants: ['(a|b)-*'] }", "kill.tenants[0]", "looks like a regular expression"],
    [rules("^delete_.*$"), "tool_schemas.run.variants.rules[0].like", "looks like a regular"],
    [rules("drop_*, wipe_*"), "tool_schemas.run.variants.rules[0].like", "is one glob with"],
    [rules("drop_*,wipe_*"), "tool_schemas.run.variants.rules[0].like", "is one glob with"],
  ])("include %s", (text, path, message) => {
    const [finding, ...more] = listFindings("pattern-syntax", text);
    expect(finding).toContain(`warning ${path}: `);
    expect(finding).toContain(message);
    expect(more).toEqual([]);
  });

  it.each([
    "kill: { tools: [a, 'b|c_*'], agents: ['bot+1@example.com', 'Smith,John', 'a?'], tenants: [acme] }",
    rules("SELECT a, b FROM *"),
    rules("/etc/*|f(x)*|C:\\data\\*|*.[ch]|a?b=$1&*"),
  ])("do not include %s", (text) => {
    expect(listFindings("pattern-syntax", text)).toEqual([]);
  });

  test("include a glob as a key of `tool_schemas`", () => {
    const text = "tool_schemas: { 'refund_*': {}, 'a|b': {}, '^c$': {}, d.e: {}, $f: {} }";
    const why = "is the name of one tool: keys of `tool_schemas` are no patterns";
    expect(listFindings("pattern-syntax", text)).toEqual([
      `warning tool_schemas["refund_*"]: \`refund_*\` ${why}`,
      `warning tool_schemas["a|b"]: \`a|b\` ${why}`,
      `warning tool_schemas["^c$"]: \`^c$\` ${why}`,
    ]);
  });
});
