import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { lintPolicy } from "../../../../services/cli/policy/lint.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { lint, lintWhole } from "../../../support/policy/linted.ts";

const T1 = new URL("../../../fixtures/policies/templates/t1.yaml", import.meta.url);

/** A tool with tier and class, so that the policy has no other findings. */
const QUIET_TOOL = "tool_schemas: { a: { read_only: false, risk_level: LOW } }\n";

/** `severity code line:column` of every finding that is more than information. */
function serious(text: string): readonly string[] {
  return lint(text)
    .filter(({ severity }) => severity !== "info")
    .map(({ severity, code, line, column }) => `${severity} ${code} ${line}:${column}`);
}

function informed(text: string): readonly string[] {
  return lint(text)
    .filter(({ severity }) => severity === "info")
    .map(({ code, line, column }) => `${code} ${line}:${column}`);
}

const tiers = (...lines: readonly string[]) =>
  `authorization:\n  tiers:\n${lines.map((line) => `    - { ${line} }\n`).join("")}`;

describe("lint of tiers", () => {
  it("finds a tier whose names all match a laxer, earlier one", () => {
    const text = tiers(
      'name: all, pattern: "*_order", action: allowlist',
      'name: care, pattern: "cancel_*_order", action: deny',
    );
    expect(serious(text)).toEqual(["error shadowed-tier 4:21"]);
    expect(lint(text).find(({ code }) => code === "shadowed-tier")?.message).toBe(
      "the tier `care` never matches: `all` comes first and matches every such name, and is laxer",
    );
  });

  it("finds a tier of which an earlier one matches a part", () => {
    const text = tiers(
      'name: a, pattern: "get_*", action: deny',
      'name: b, pattern: "get_user|list_*", action: allowlist',
    );
    expect(serious(text)).toEqual(["warning shadowed-tier 4:18"]);
  });

  it("accepts tiers that share only some names", () => {
    const text = tiers(
      'name: a, pattern: "get_*_order", action: allowlist',
      'name: b, pattern: "get_*", action: deny',
      // A hitl tier looks at last segments too, which the allowlist does not match.
      'name: c, pattern: "get_new_order|drop_*", action: hitl, expires_ms: 1000',
    );
    expect(serious(text)).toEqual(["warning shadowed-tier 5:18"]);
    expect(
      serious(
        tiers(
          'name: a, pattern: "drop_*", action: allowlist',
          'name: c, pattern: "drop_*", action: hitl, expires_ms: 1000',
        ),
      ),
    ).toEqual([]);
  });

  it("finds patterns that are not globs, or match everything", () => {
    expect(serious(tiers('name: a, pattern: "get_.+", action: deny'))).toEqual([
      "warning pattern-syntax 3:18",
    ]);
    for (const list of ["drop_a, drop_b", "drop_a;drop_b", "drop_a drop_b"]) {
      expect(serious(tiers(`name: a, pattern: "${list}", action: deny`))).toEqual([
        "warning pattern-syntax 3:18",
      ]);
    }
    expect(serious(tiers('name: a, pattern: " drop_a | drop_b ", action: deny'))).toEqual([]);
    expect(serious(tiers('name: a, pattern: "*", action: allowlist'))).toEqual([
      "warning catch-all 3:18",
    ]);
    expect(serious(tiers('name: a, pattern: "*", action: deny'))).toEqual([]);
  });

  it("finds patterns that miss names with a namespace", () => {
    const tier = tiers('name: a, pattern: "get_*", action: allowlist');
    const text = `${tier}tool_schemas: { github/get_file: { read_only: true } }`;
    const finding = lint(text).find(({ code }) => code === "namespaced-names");
    expect(finding).toMatchObject({ severity: "warning", line: 3, remedy: "add `*/get_*`" });
    expect(informed(tier)).toContain("namespaced-names 3:18");
    expect(informed(tiers('name: a, pattern: "*/get_*", action: allowlist'))).not.toContain(
      "namespaced-names 3:18",
    );
  });

  it("accepts patterns that contain the namespace", () => {
    for (const pattern of ["mcp__*__get_*", "gh.get_*", "gh:get_*"]) {
      const tier = tiers(`name: a, pattern: "${pattern}", action: allowlist`);
      expect(informed(tier)).not.toContain("namespaced-names 3:18");
    }
  });

  it("proposes the separator that the tools' names have", () => {
    const tier = tiers('name: a, pattern: "get_*|list_*", action: allowlist');
    const text = `${tier}tool_schemas: { mcp__gh__get_file: { read_only: true }, fs.list_files: { read_only: true } }`;
    const finding = lint(text).find(({ code }) => code === "namespaced-names");
    expect(finding?.message).toContain("`mcp__gh__get_file`, `fs.list_files`");
    expect(finding?.remedy).toBe("add `*.get_*|*__get_*|*.list_*|*__list_*`");
  });

  it("does not propose what the pattern already matches", () => {
    for (const pattern of ["get_*|*/get_*", "get_*|*get_*", "*/get_*|get_*|*/list_*"]) {
      const tier = tiers(`name: a, pattern: "${pattern}", action: allowlist`);
      expect(informed(tier)).not.toContain("namespaced-names 3:18");
    }
    const half = tiers('name: a, pattern: "get_*|*/get_*|list_*", action: allowlist');
    const left = (text: string) => lint(text).find(({ code }) => code === "namespaced-names");
    expect(left(half)?.message).toContain("such as `server/list_*`");
    expect(left(half)?.remedy).toBe("add `*/list_*` if tools have namespaces");
    const missed = `${half}tool_schemas: { gh__get_file: {}, gh/list_files: {} }`;
    expect(left(missed)?.remedy).toBe("add `*__get_*|*/list_*|*__list_*`");
  });

  it("accepts a tier behind one that has a condition", () => {
    const small = 'name: a, pattern: "refund_*", action: allowlist, when: { n: { at_most: 5 } }';
    const all = 'name: b, pattern: "refund_*", action: hitl, expires_ms: 1000';
    expect(serious(`${tiers(small, all)}  default: allow`)).toEqual([]);
    expect(serious(`${tiers(small)}  default: ask`)).toEqual([]);
    const same = `name: b, ${small.slice("name: a, ".length)}`;
    expect(serious(`${tiers(small, same)}  default: ask`)).toEqual(["warning shadowed-tier 4:18"]);
  });

  it("finds a condition that allows some calls where the others are allowed, too", () => {
    const small = 'name: a, pattern: "refund_*", action: allowlist, when: { n: { at_most: 5 } }';
    const rest = 'name: b, pattern: "refund_*|x_*", action: allowlist';
    expect(serious(`${tiers(small)}  default: allow`)).toEqual([
      "warning condition-without-rest 3:58",
    ]);
    expect(serious(`${tiers(small, rest)}  default: ask`)).toEqual([
      "warning condition-without-rest 3:58",
    ]);
  });

  it("finds approvals without an expiry", () => {
    expect(serious(tiers('name: a, pattern: "drop_*", action: hitl'))).toEqual([
      "warning approval-without-expiry 3:7",
    ]);
  });
});

describe("lint of tools", () => {
  const reads = tiers('name: reads, pattern: "get_*", action: allowlist');

  it("finds a tool without a tier", () => {
    expect(serious(`${reads}tool_schemas: { send: {} }`)).toEqual([
      "warning tool-without-tier 4:17",
    ]);
    expect(serious(`${reads}tool_schemas: { send: { risk_level: HIGH } }`)).toEqual([]);
    expect(serious("tool_schemas: { send: {} }")).toEqual([]);
  });

  it.each([
    ["", "{}", "it is allowed"],
    ["", "{ commands: sql }", "what it writes is allowed"],
    ["preset: strict\n", "{ risk_level: LOW }", null],
    ["preset: strict\n", "{}", null],
    ["preset: strict\n", "{ commands: sql }", null],
    ["", "{ reads: [a] }", null],
    ["", "{ read_only: true }", null],
  ])("warns of a write that runs although no tier names it: %s%s", (preset, tool, expected) => {
    const findings = lint(`${preset}${reads}tool_schemas: { send: ${tool} }`);
    const [{ message = null } = {}] = findings.filter(({ code }) => code === "tool-without-tier");
    const prefix = "no tier matches `send` and it has no `risk_level`: ";
    expect(message).toBe(expected === null ? null : prefix + expected);
  });

  it("does not warn of writes that the default or a rule of each class holds", () => {
    const held = 'name: ask, pattern: "drop_*", action: hitl, expires_ms: 1000';
    const rules = (rest: string) =>
      `variants: { argument: op, rules: [{ equals: look, read_only: true }, { equals: drop, tier: ask }], ${rest} }`;
    const text = (action: string, tool: string) =>
      `${tiers(held)}  default: ${action}\ntool_schemas: { run_sql: { ${tool} } }`;
    const warnings = (action: string, tool: string) =>
      lintWhole(text(action, tool)).filter(({ code }) => code === "tool-without-tier");
    expect(warnings("ask", "")).toEqual([]);
    expect(warnings("deny", "commands: sql")).toEqual([]);
    expect(warnings("allow", rules("otherwise: { tier: ask }"))).toEqual([]);
    expect(warnings("allow", rules("otherwise: {}"))).toMatchObject([{ severity: "info" }]);
    const unclear = "commands: { language: sql, rules: [{ statement: drop, tier: ask }] }";
    expect(warnings("allow", unclear)).toMatchObject([{ severity: "info" }]);
  });

  it("finds tools that only a tier makes reads", () => {
    expect(serious(`${reads}tool_schemas: { get_a: {} }`)).toEqual(["warning read-by-tier 4:17"]);
    expect(serious(`${reads}tool_schemas: { get_a: { read_only: true } }`)).toEqual([]);
    expect(serious(`${reads}tool_schemas: { get_a: { risk_level: MEDIUM } }`)).toEqual([]);
  });

  it.each([
    ["canonical_fields: [id, idd]", "unknown-argument 1:54"],
    ["canonical_fields: [id, id]", "duplicate-field 1:54"],
    ["normalizers: { idd: trim }", "unknown-argument 1:46"],
    ["idempotency_argument: key", "unknown-argument 1:31"],
    ['effects: [{ resource: "a/{idd}", kind: update }]', "unknown-argument 1:41"],
    ['reads: ["a/{idd}"]', "unknown-argument 1:39"],
  ])("finds argument names that the schema does not have: %s", (declared, expected) => {
    const schema = "input_schema: { type: object, properties: { id: { type: string } } }";
    const findings = serious(`tool_schemas: { a: {          ${declared}, ${schema} } }`);
    expect(findings).toEqual([`warning ${expected}`]);
  });

  it.each([
    ["options: { type: array, items: { type: object } }", ["error unknown-argument 1:31"]],
    ["options: { type: [string, 'null'] }", ["error unknown-argument 1:31"]],
    ["options: { type: object, properties: { a: {} } }", ["warning unknown-argument 1:31"]],
    [
      "options: { additionalProperties: false, properties: { a: {} } }",
      ["warning unknown-argument 1:31"],
    ],
    [
      "options: { type: object, properties: { in: { type: string } } }",
      ["error unknown-argument 1:31"],
    ],
    ["options: { type: object, properties: { in: { properties: { key: {} } } } }", []],
    ["options: { type: [object, 'null'], properties: { in: { type: object } } }", []],
    ["options: { type: object }", []],
    ["options: { $ref: '#/$defs/a' }", []],
    ["options: true", []],
    ["options: { properties: { a: {} }, additionalProperties: true }", []],
  ])("finds a schema that cannot hold the idempotency key: %s", (property, expected) => {
    const schema = `input_schema: { type: object, properties: { ${property} } }`;
    const findings = serious(
      `tool_schemas: { a: {          idempotency_argument: options.in.key, ${schema} } }`,
    );
    expect(findings).toEqual(expected);
  });

  it("finds commands or variants of an argument that no call has", () => {
    const schema = "input_schema: { type: object, properties: { cmd: { type: string } } }";
    const listFindings = (more: string) => serious(`tool_schemas: { a: { ${schema}, ${more} } }`);
    expect(listFindings("commands: { unclear: t }")).toEqual(["error unknown-argument 1:93"]);
    const rules = 'rules: [{ match: "^rm", read_only: false }]';
    expect(listFindings(`variants: { argument: line, ${rules} }`)).toEqual([
      "error unknown-argument 1:93",
    ]);
    expect(listFindings("commands: { argument: cmd, unclear: t }")).toEqual([]);
  });

  it("finds sensitive fields that no call has, and comparisons of digests", () => {
    const schema = "input_schema: { type: object, properties: { id: { type: string } } }";
    expect(serious(`tool_schemas: { a: { sensitive: [id, idd], ${schema} } }`)).toEqual([
      "error unknown-argument 1:38",
    ]);
    expect(serious(`tool_schemas: { a: { sensitive: [id.x, id], ${schema} } }`)).toEqual([]);
    const alike = "similarity: [{ field: id.x, threshold: 0.9 }]";
    expect(serious(`tool_schemas: { a: { sensitive: [id], ${alike} } }`)).toEqual([
      "warning idle-key 1:54",
    ]);
    expect(serious(`tool_schemas: { a: { sensitive: [i], ${alike} } }`)).toEqual([]);
  });

  it("accepts schemas that allow other arguments", () => {
    const open = "input_schema: { anyOf: [{ properties: { id: {} } }], properties: { x: {} } }";
    expect(serious(`tool_schemas: { a: { canonical_fields: [id], ${open} } }`)).toEqual([]);
    expect(serious("tool_schemas: { a: { canonical_fields: [id] } }")).toEqual([]);
  });

  it("finds suggestions of missing or denied tools", () => {
    const denied = tiers('name: no, pattern: "drop_*", action: deny');
    const text = `${denied}tool_schemas: { a: { risk_level: LOW, suggest: [b, drop_it, a] } }`;
    expect(serious(text)).toEqual([
      "warning unknown-suggestion 4:49",
      "warning unknown-suggestion 4:52",
    ]);
  });

  it.each([
    ["deduplication: { strategy: byte_hash }\n", "canonical_fields: [id]", 1],
    ["deduplication: { strategy: byte_hash }\n", "normalizers: { id: trim }", 1],
    ["", "volatile: true, cache_ttl_s: 5", 1],
    ["", "polling: { max_calls: 5 }, cache_ttl_s: 5", 1],
    ["", "read_only: true, repeatable: true", 1],
    ["", "read_only: false, cache_ttl_s: 5", 1],
    ["", "checks: { unknown_tool: warn }", 1],
    ["", "read_only: true, cache_ttl_s: 5", 0],
  ])("finds keys without effect: %s%s", (policy, declared, count) => {
    const findings = serious(`${policy}tool_schemas: { a: { ${declared} } }`);
    expect(findings.filter((finding) => finding.startsWith("warning idle-key"))).toHaveLength(
      count,
    );
    expect(findings).toHaveLength(count);
  });

  it.each([
    ["(?=a)", "error unsafe-pattern"],
    ["a*", "error unsafe-pattern"],
    [".*failed", "warning slow-pattern"],
    ["(a+)+b", "warning slow-pattern"],
  ])("finds the error pattern %s", (pattern, expected) => {
    const text = `tool_schemas: { a: { error_patterns: ["${pattern}"] } }`;
    expect(serious(text)).toEqual([`${expected} 1:39`]);
  });

  it("accepts an ordinary error pattern", () => {
    expect(serious('tool_schemas: { a: { error_patterns: ["^Error:"] } }')).toEqual([]);
  });
});

describe("lint of escalation", () => {
  it("finds levels that a higher one precedes", () => {
    expect(serious(`${QUIET_TOOL}escalation: { ask: 2, options: 2, user_input: 3 }`)).toEqual([
      "error unreachable-level 2:15",
    ]);
  });

  it("finds a written level that makes one of the preset unreachable", () => {
    const [, finding] = lint(`${QUIET_TOOL}escalation: { user_input: 2 }`);
    const expected = { code: "unreachable-level", path: "escalation.user_input" };
    expect(finding).toMatchObject({ severity: "warning", ...expected });
    expect(finding?.message).toContain("`options` (strike 2) is never reached");
  });

  it("finds refusals that never stop anything", () => {
    const text = `${QUIET_TOOL}escalation: { user_input: off }`;
    expect(serious(text)).toEqual(["error block-without-stop 2:1"]);
    expect(serious(`mode: shadow\n${text}`)).toEqual([]);
    expect(serious(`preset: observe\n${text}`)).toEqual([]);
    const enforced = `preset: observe\nchecks: { loop_repeat: enforce }\n${text}`;
    expect(serious(enforced)).toEqual(["error block-without-stop 4:1"]);
  });

  it("accepts levels in order", () => {
    const text = `${QUIET_TOOL}escalation: { ask: 1, options: 2, user_input: 3, end: 4 }`;
    expect(serious(text)).toEqual([]);
    expect(informed(text)).toEqual(["needs-turn 2:1"]);
  });

  it("finds an acknowledgement that is never asked for", () => {
    const text = `${QUIET_TOOL}acknowledgement: { mode: implicit }\nescalation: { options: off }`;
    expect(serious(text)).toEqual(["warning idle-key 2:1"]);
  });
});

describe("lint of limits", () => {
  it.each([
    ["budgets: { max_steps: 5 }", ["warning budget-without-window 2:12"]],
    ["budgets: { max_steps: 5, per_conversation: { max_steps: 50 } }", []],
    ["budgets: { max_steps: 5, per_conversation: { max_steps: 4 } }", ["warning idle-key 2:12"]],
    [
      "budgets: { max_tool_calls: 5, per_conversation: { max_tool_calls: 9 }, per_tool: { max_tool_calls: 5 } }",
      ["warning idle-key 2:84"],
    ],
    ["limits: { recent_calls: 10 }", ["warning recent-calls-too-few 2:11"]],
    ["deduplication: { loop_threshold: 65 }", ["warning recent-calls-too-few 2:18"]],
    ["loops: { cycle_rounds: 13 }", ["warning recent-calls-too-few 2:10"]],
  ])("warns about %s", (text, expected) => {
    expect(serious(QUIET_TOOL + text)).toEqual(expected);
  });
});

describe("lint of the whole policy", () => {
  it.each([
    ["", "it is allowed"],
    ["preset: strict\n", "it is held for a person, by `preset: strict`"],
  ])("requires `authorization.default`: %s", (preset, outcome) => {
    const text = preset + tiers('name: a, pattern: "drop_*", action: deny');
    const [finding] = lintWhole(text).filter(({ code }) => code === "default-not-written");
    expect(finding).toMatchObject({ severity: "error", line: preset === "" ? 1 : 2 });
    expect(finding?.message).toContain(`no tier and no rule names: ${outcome}`);
    for (const action of ["allow", "ask", "deny"]) {
      const codes = lintWhole(`${text}  default: ${action}`).map(({ code }) => code);
      expect(codes).not.toContain("default-not-written");
    }
  });

  it.each([
    ["tools: { cache_ttl_s: 30 }", ["warning declares-nothing 1:1"]],
    [`${QUIET_TOOL}unknown_tools: allow`, ["warning unknown-allowed 2:1"]],
    [`${QUIET_TOOL}unknown_tools: hitl\nchecks: { unknown_tool: warn }`, ["warning idle-key 3:11"]],
  ])("warns about %s", (text, expected) => {
    expect(serious(text)).toEqual(expected);
  });

  it("explains a numeric loop_threshold and shadow mode", () => {
    const text = `${QUIET_TOOL}deduplication: { loop_threshold: 3 }\nmode: shadow`;
    expect(informed(text)).toEqual(expect.arrayContaining(["any-output 2:18", "shadow 3:1"]));
  });

  it("finds what the author of template T1 should know", () => {
    expect(serious(readFileSync(T1, "utf8"))).toEqual(["warning approval-without-expiry 21:9"]);
  });
});

describe("lint of tools whose class depends on an argument", () => {
  const schema = (name: string) =>
    `input_schema: { type: object, properties: { ${name}: { type: string } } }`;
  const tool = (text: string) => `tool_schemas: { a: { risk_level: LOW, ${text} } }\n`;

  it.each(["command", "cmd", "sql", "method", "tool_name"])("finds them by `%s`", (name) => {
    expect(informed(tool(schema(name)))).toContain("class-by-argument 1:17");
  });

  it.each([
    schema("path"),
    `read_only: true, ${schema("command")}`,
    `commands: shell, ${schema("command")}`,
    `effects: [{ resource: a, kind: update }], ${schema("command")}`,
  ])("accepts %s", (text) => {
    expect(informed(tool(text))).not.toContain("class-by-argument 1:17");
  });

  it("finds a result that identifies its resource too late, or never", () => {
    const effects = 'effects: [{ resource: "a/{result.id}", kind: create }]';
    expect(serious(tool(`${effects}, ${schema("path")}`))).toEqual([]);
    expect(serious(tool(`${effects}, empty_output: true`))).toEqual(["warning never-named 1:49"]);
    const read = 'read_only: true, reads: ["a/{result.id}"]';
    expect(informed(tool(read))).toEqual(["needs-turn 1:1", "named-too-late 1:64"]);
  });

  it("reports once that `read_only` beside `commands` has no effect", () => {
    expect(serious(tool("read_only: false, commands: { language: http, unclear: t }"))).toEqual([
      "warning idle-key 1:39",
    ]);
  });
});

describe("lint of loops and money", () => {
  const calm = (text: string) => `${QUIET_TOOL}${text}\n`;
  const listFindings = (document: PolicyDocument) => {
    const at: string[] = [];
    const source = { locate: () => null };
    for (const { code, path } of lintPolicy(document, source)) at.push(`${code} ${path}`);
    return at;
  };

  it("finds checks that need more calls than are retained", () => {
    const loops = {
      rotation: { calls: 24 },
      failure_run: { same_tool: 8, any: 9 },
      failure_streak: { same: 17, transient: 18 },
    };
    const byTurn = { tool_deduplication: { no_progress_threshold: 19 } };
    expect(listFindings({ limits: { recent_calls: 16 }, loops, ...byTurn })).toEqual(
      expect.arrayContaining([
        "recent-calls-too-few loops.rotation.calls",
        "recent-calls-too-few loops.failure_streak.same",
        "recent-calls-too-few loops.failure_streak.transient",
        "recent-calls-too-few tool_deduplication.no_progress_threshold",
      ]),
    );
    expect(listFindings({ limits: { recent_calls: 64 }, loops, ...byTurn }).join()).not.toContain(
      "ring-too",
    );
  });

  it("finds limits that each turn starts anew", () => {
    const spend = { amount: "5", currency: "USD" };
    const code = "budget-without-window";
    expect(listFindings({ budgets: { max_spend: spend, max_seconds: 60 } })).toEqual(
      expect.arrayContaining([`${code} budgets.max_spend`, `${code} budgets.max_seconds`]),
    );
    const bounded = { max_spend: spend, max_seconds: 60 };
    expect(
      listFindings({ budgets: { ...bounded, per_conversation: bounded } }).join(),
    ).not.toContain(code);
  });

  it("finds no unreachable level in `strict`", () => {
    expect(listFindings({ preset: "strict" }).join()).not.toContain("unreachable-level");
    expect(listFindings({ preset: "strict", escalation: { user_input: 4 } }).join()).toContain(
      "unreachable-level escalation.user_input",
    );
    expect(serious(calm("preset: balanced"))).toEqual([]);
  });
});

describe("lint of patterns", () => {
  const tools = ["delete_account", "mcp__gh__create_issue", "get_order"]
    .map((name) => `  ${name}: { read_only: false, risk_level: LOW }\n`)
    .join("");
  const listFindings = (pattern: string, kill = "") =>
    lint(`tool_schemas:\n${tools}${tiers(`name: a, pattern: "${pattern}", action: deny`)}${kill}`)
      .filter(({ code }) => code === "misspelt-pattern")
      .map(({ severity, path, message, remedy }) => [severity, path, message, remedy].join(" | "));

  it.each([
    ["delte_*", "delete_account", "delete_*"],
    ["deelte_account", "delete_account", "delete_account"],
    ["delete_acount", "delete_account", "delete_account"],
    ["*_acount", "delete_account", "*_account"],
    ["crate_*", "mcp__gh__create_issue", "create_*"],
    ["mpc__gh__*", "mcp__gh__create_issue", "mcp__gh__*"],
  ])("suggests for %s the similar name %s", (glob, name, meant) => {
    expect(listFindings(`get_*|${glob}`)).toEqual([
      `warning | authorization.tiers[0].pattern | \`${glob}\` matches none of the declared tools, and nearly \`${name}\` | did you mean \`${meant}\`?`,
    ]);
  });

  it.each([
    "delete_*",
    "*_account",
    "create_*",
    // Other words, not misspelt ones.
    "remove_*",
    "set_*",
    "update_*",
    "*",
    "*_order*",
    "shell",
    "drop_*_now",
  ])("accepts %s", (glob) => {
    expect(listFindings(glob)).toEqual([]);
  });

  it("checks the kill switch, too", () => {
    expect(listFindings("get_*", "kill: { tools: [get_order, delete_acc0unt] }\n")).toEqual([
      "warning | kill.tools[1] | `delete_acc0unt` matches none of the declared tools, and nearly `delete_account` | did you mean `delete_account`?",
    ]);
  });
});
