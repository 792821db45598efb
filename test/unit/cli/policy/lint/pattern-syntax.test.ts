import { describe, expect, it, test } from "vitest";
import { lint } from "../../../../support/policy/linted.ts";

const TIERS =
  "authorization:\n  tiers: [{ name: ask, pattern: ask, action: hitl, expires_ms: 1000 }]\n";

/** `path: message` of what a lint rule says of the policy. */
function told(code: string, text: string): readonly string[] {
  return lint(TIERS + text)
    .filter((finding) => finding.code === code)
    .map(({ severity, path, message }) => `${severity} ${path}: ${message}`);
}

describe("patterns that are no globs", () => {
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
  ])("%s", (text, path, message) => {
    const [found, ...more] = told("pattern-syntax", text);
    expect(found).toContain(`warning ${path}: `);
    expect(found).toContain(message);
    expect(more).toEqual([]);
  });

  it.each([
    "kill: { tools: [a, 'b|c_*'], agents: ['bot+1@example.com', 'Smith,John', 'a?'], tenants: [acme] }",
    rules("SELECT a, b FROM *"),
    rules("/etc/*|f(x)*|C:\\data\\*|*.[ch]|a?b=$1&*"),
  ])("but not %s", (text) => {
    expect(told("pattern-syntax", text)).toEqual([]);
  });

  test("a key of `tool_schemas` is the name of one tool", () => {
    const text = "tool_schemas: { 'refund_*': {}, 'a|b': {}, '^c$': {}, d.e: {}, $f: {} }";
    const why = "is the name of one tool: keys of `tool_schemas` are no patterns";
    expect(told("pattern-syntax", text)).toEqual([
      `warning tool_schemas["refund_*"]: \`refund_*\` ${why}`,
      `warning tool_schemas["a|b"]: \`a|b\` ${why}`,
      `warning tool_schemas["^c$"]: \`^c$\` ${why}`,
    ]);
  });
});

describe("rules of a shell that fit no line", () => {
  const outside = (rule: string, set = "posix_shell") =>
    told(
      "unfit-rule",
      `tool_schemas: { sh: { variants: { set: ${set}, rules: [{ ${rule}, tier: ask }] } } }`,
    ).map((found) => found.replace(/^.*rules\[0\]\.(\w+): .*: (.*) fits only.*$/, "$1 $2"));

  it.each([
    ["match: '^rm -rf .* && '", "match `&&`"],
    ["match: '^cat .*\\| *sh'", "match `|`"],
    ["match: '[;&|]rm'", "match `;`"],
    ["match: 'cd .*; *rm'", "match `;`"],
    ["match: '> /etc'", "match a redirection"],
    ["match: 'x 2>&1'", "match a redirection"],
    ["match: 'rm  -rf'", "match more than one space"],
    ["match: 'rm\\s{2,}-rf'", "match more than one space"],
    ["match: 'rm {2}-rf'", "match more than one space"],
    ["match: '^FOO=1 make'", "match a variable before a command"],
    ["like: 'ls|cd * && rm *'", "like `&&`"],
    ["like: 'echo *>>*'", "like a redirection"],
    ["equals: ['ls', 'cat a | sh']", "equals `|`"],
    ["match: '^rm -rf \\$HOME'", "match an expansion"],
    ["match: '\\$\\(.*\\)'", "match an expansion"],
    ["match: '`'", "match an expansion"],
    ["like: 'rm -rf $HOME*'", "like an expansion"],
    ["equals: 'rm -rf $HOME'", "equals an expansion"],
    ["equals: \"git commit -m 'wip'\"", "equals a quote"],
    ["match: '^git commit -m \"wip\"'", "match a quote"],
    ["like: 'git commit -m \"*\"'", "like a quote"],
    ["match: '^sleep .* &$'", "match `&`"],
    ["match: '^cat .* < '", "match a redirection"],
    ["match: '< secret'", "match a redirection"],
    ["match: 'sh <\\('", "match a redirection"],
    ["match: '^curl .*>'", "match a redirection"],
    ["match: '^! git push'", "match a word that structures a line"],
    ["match: '^if .*'", "match a word that structures a line"],
    ["match: '^FOO=1'", "match a variable before a command"],
    ["like: 'FOO=1 *'", "like a variable before a command"],
    ["match: '[|] *sh'", "match `|`"],
    ["match: '\\x7c *sh'", "match `|`"],
    ["match: 'ls|a\\s*&&\\s*b'", "match `&&`"],
    ["match: '^git\\tpush'", "match a tab or a line feed"],
    ["match: '^rm\\n'", "match a tab or a line feed"],
  ])("%s", (rule, expected) => {
    expect(outside(rule)).toEqual([expected]);
  });

  it.each([
    "match: '^(?:rm|mv) -rf?'",
    "match: '(?<name>rm) (?i)-RF'",
    "match: 'find .* -exec rm .* ;$'",
    "match: 'a->b|c=>d'",
    "match: 'make FOO=1'",
    "like: 'rm *| mv *'",
    "equals: ls -la",
    "match: '^ls [^;&|]*$'",
    "match: '^ls [^<>|]*$'",
    "match: '^ls( -l)?( [^;&|<>$`]*)?$'",
    "match: '^awk .* \\$1'",
    "match: 'price \\$?[A-Z]|a;?|b *\\|?c'",
    "match: 'do push|env FOO=1 make'",
    "match: '^git commit -m [\"\\x27]?wip'",
    "match: '^rm (.* )?-?( |$)'",
    "match: '^a{2} {1,2}b'",
    "match: '^echo a{b}'",
    "like: '*=*|*.env|git push *|*|rm -rf {a,b}'",
    `equals: ["rm -rf {a,b}", "it's"]`,
  ])("but not %s", (rule) => {
    expect(outside(rule)).toEqual([]);
  });

  it.each([
    ["^ git push", "a space at the ends"],
    ["^\\s+git push", "a space at the ends"],
    ["^git push -f\\s+$", "a space at the ends"],
    ["ls|^git push $", "a space at the ends"],
    ["$^", "behind `$`"],
    ["git push$ && rm", "behind `$`"],
    ["^a$b", "behind `$`"],
    ["^a( |$).+", "behind `$`"],
    ["^a( |$).*b", "behind `$`"],
  ])("an expression that no command fits is told: %s", (match, expected) => {
    const [found] = told(
      "unfit-rule",
      `tool_schemas: { sh: { variants: { set: posix_shell, rules: [{ match: '${match}', tier: ask }] } } }`,
    );
    expect(found).toContain(expected);
  });

  it.each([
    "match: '^\\s*git push\\s*$'",
    "match: '^git push( |$)'",
    "match: '^git push( |$).*'",
    "match: '^git push( |$).*x?[a-z]*'",
    "match: '^(a$|b) c'",
    "match: '(^| )rm'",
    "match: '^$'",
    "match: '^ $'",
    "match: '^rm {1,2}-f {0,2}a$'",
    "match: 'a[$]b'",
  ])("but not where one may: %s", (rule) => {
    expect(outside(rule)).toEqual([]);
  });

  test("an equal text is told with the words that rules see", () => {
    const mends = (rule: string) =>
      lint(
        `tool_schemas: { sh: { variants: { set: posix_shell, rules: [{ ${rule}, tier: ask }] } } }`,
      )
        .filter(({ code }) => code === "unfit-rule")
        .map(({ message, mend }) => [message.replace(/^.*: /, ""), mend]);
    expect(mends("equals: \"git commit -m 'wip'\"")).toEqual([
      ["a quote fits only inside of a quoted word", "write `git commit -m wip`"],
    ]);
    expect(mends("equals: 'git push '")).toEqual([
      ["a space at the ends fits only where a word is empty or not seen", "write `git push`"],
    ]);
    expect(mends("equals: 'rm -rf $X'")[0]?.[1]).toContain("write rules for the commands");
  });

  test("a statement of SQL may have all of this", () => {
    expect(outside("match: '> 5; *drop  table'", "sql")).toEqual([]);
  });

  it.each([
    ["match: 'push && '", "match `&&`"],
    ["match: '^push .*> '", "match a redirection"],
    ["equals: 'push | cat'", "equals `|`"],
    ["like: 'FOO=1 push*'", "like a variable before a command"],
  ])("nor does one of git: %s", (rule, expected) => {
    expect(outside(rule, "git")).toEqual([expected]);
  });

  test.each(["match: '^push .*\\$X'", "equals: 'push --force '", "match: '  push|<|`'"])(
    "but not %s, which git sees as it is written",
    (rule) => {
      expect(outside(rule, "git")).toEqual([]);
    },
  );

  it.each(["git", "sql"])("of %s are told where they ask for the `;` that ends one", (set) => {
    for (const rule of ["match: 'drop a;$'", "equals: 'drop a;'", "like: 'drop *;'"]) {
      const [found] = told(
        "unfit-rule",
        `tool_schemas: { it: { variants: { set: ${set}, rules: [{ ${rule}, tier: ask }] } } }`,
      );
      expect(found).toContain("`;` at the end fits only where it is written");
    }
    expect(outside("match: 'drop a;?$'", set)).toEqual([]);
  });
});
