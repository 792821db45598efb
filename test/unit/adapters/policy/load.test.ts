import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadPolicy } from "../../../../services/adapters/policy/load.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import type { PolicyProblem } from "../../../../services/core/policy/problem.ts";

const TEMPLATES = new URL("../../../fixtures/policies/templates/", import.meta.url);

function template(name: string): string {
  return readFileSync(new URL(name, TEMPLATES), "utf8");
}

function load(...texts: readonly string[]) {
  const result = loadPolicy(texts.map((text, index) => ({ name: `p${index}.yaml`, text })));
  if (!result.ok) throw new Error(result.problems.map(shown).join("\n"));
  return result;
}

function document(...texts: readonly string[]): PolicyDocument {
  return load(...texts).document;
}

function problems(...texts: readonly string[]): readonly PolicyProblem[] {
  const result = loadPolicy(texts.map((text, index) => ({ name: `p${index}.yaml`, text })));
  return result.ok ? [] : result.problems;
}

/** Formats a problem as `file:line:column path: message; remedy`. */
function shown(problem: PolicyProblem): string {
  const { file, line, column, path, message, remedy } = problem;
  return `${file}:${line}:${column} ${path}: ${message}; ${remedy}`;
}

describe("a loaded document", () => {
  it("equals the template T1, with its units as written", () => {
    const { deduplication, idempotency, authorization, tool_schemas } = document(
      template("t1.yaml"),
    );
    expect(deduplication).toEqual({
      window_ms: 300_000,
      strategy: "semantic_hash",
      loop_threshold: { same_output: 3, any_output: 3 },
    });
    expect(idempotency).toEqual({
      generation: "content_based",
      header: "X-Agent-Idempotency-Key",
      ttl_ms: 86_400_000,
    });
    expect(authorization?.tiers?.map(({ action }) => action)).toEqual([
      "allowlist",
      "per_conversation_grant",
      "hitl",
    ]);
    expect(authorization?.tiers?.[0]).toMatchObject({
      rate_limit: { count: 100, windowMs: 60_000 },
    });
    expect(tool_schemas?.["create_invoice"]).toEqual({
      risk_level: "MEDIUM",
      canonical_fields: ["amount_cents", "currency", "customer_id"],
      normalizers: {
        amount_cents: [{ name: "to_int", arguments: [] }],
        currency: [{ name: "to_upper", arguments: [] }],
      },
      side_effect_resource: "invoice",
    });
  });

  it("equals the template T2", () => {
    expect(document(template("t2.yaml"))).toEqual({
      budgets: { max_steps: 25, max_tool_calls: 12, max_seconds: 60 },
      tools: {
        dedupe_window_s: 60,
        cache_ttl_s: 30,
        retries: { max_attempts: 2, retryable_status: [408, 429, 500, 502, 503, 504] },
      },
    });
  });

  it("equals the template T3", () => {
    expect(document(template("t3.yaml"))).toEqual({
      tool_deduplication: {
        enabled: true,
        exact_duplicate_threshold: 1,
        no_progress_threshold: 3,
        append_system_note: true,
      },
    });
  });

  it("is the same from several files, with and without policy_engine, and from an object", () => {
    const blocks = { mode: "shadow", tools: { cache_ttl_s: 30 } };
    const loaded = [
      loadPolicy(blocks),
      loadPolicy({ policy_engine: blocks }),
      load("mode: shadow\ntools: { cache_ttl_s: 30 }"),
      load("tools: { cache_ttl_s: 30 }", "policy_engine: { mode: shadow }"),
    ];
    const digests = loaded.map((result) => (result.ok ? result.digest : "invalid"));
    expect(new Set(digests).size).toBe(1);
    expect(digests[0]).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it("has another digest when a value differs", () => {
    expect(load("tools: { cache_ttl_s: 30 }").digest).not.toBe(
      load("tools: { cache_ttl_s: 31 }").digest,
    );
  });

  it("has a warning where every tool would count as declared", () => {
    const [warning] = load("tools: { cache_ttl_s: 30 }").warnings;
    expect(warning).toMatchObject({ file: "p0.yaml", line: 1, column: 1 });
    expect(load("tool_schemas: { a: {} }").warnings).toEqual([]);
  });
});

describe("the location of a path", () => {
  const { source } = load("mode: enforce\n", template("t1.yaml"));

  it.each([
    ["tool_schemas.create_invoice.side_effect_resource", 32, 7],
    ["authorization.tiers[1].pattern", 17, 9],
    ["tool_schemas.send_email.effects[0].kind", 33, 5],
    ["deduplication.cache_ttl_ms", 2, 3],
  ])("%s", (path, line, column) => {
    expect(source.locate(path)).toMatchObject({ file: "p1.yaml", line, column });
  });

  it("is that of the nearest ancestor, or of the document", () => {
    expect(source.locate("deduplication.cache_ttl_ms")?.path).toBe("deduplication");
    expect(source.locate("escalation.ask")).toEqual({
      file: "p0.yaml",
      line: 1,
      column: 1,
      path: "",
    });
  });

  it("is unknown in an object", () => {
    const loaded = loadPolicy({ mode: "shadow" });
    expect(loaded.ok && loaded.source.locate("mode")).toBeNull();
  });
});

describe("problems", () => {
  it.each([
    [
      "presett: balanced",
      "p0.yaml:1:1 presett: `presett` is not a key here; did you mean `preset`?",
    ],
    [
      "deduplication:\n  dedupe_window_s: 3",
      "p0.yaml:2:3 deduplication.dedupe_window_s: `dedupe_window_s` is not a key here; it is a key of tools and tool_schemas.*",
    ],
    [
      "limits:\n  zzzzzzzz: 3",
      "p0.yaml:2:3 limits.zzzzzzzz: `zzzzzzzz` is not a key here; the keys here are arguments_bytes, output_bytes, recent_calls",
    ],
    [
      "mode: on",
      "p0.yaml:1:7 mode: must be `enforce` or `shadow`, not `on`; write `enforce` or `shadow`",
    ],
    [
      "tools:\n  cache_ttl_s: soon",
      "p0.yaml:2:16 tools.cache_ttl_s: must be a number, not text; write a number",
    ],
    [
      "tools:\n  cache_ttl_s: 1.5",
      "p0.yaml:2:16 tools.cache_ttl_s: must be a whole number, not a fraction; write a whole number",
    ],
    [
      "tools:\n  cache_ttl_s: -1",
      "p0.yaml:2:16 tools.cache_ttl_s: must be at least 0; write a number of at least 0",
    ],
    ["limits:\n", "p0.yaml:1:1 limits: is empty; set a value, or remove the key"],
    [
      "escalation: { ask: on }",
      "p0.yaml:1:20 escalation.ask: must be a whole number from 1, or `off`; write a number or the word off",
    ],
    [
      "deduplication: { scope: tenant }",
      "p0.yaml:1:25 deduplication.scope: identity reaches over a turn or a conversation, not `tenant`: wider scopes would cross partitions; write turn or conversation",
    ],
    [
      "tool_schemas:\n  a: { frequency: 100/minute }",
      "p0.yaml:2:19 tool_schemas.a.frequency: is not a rate; write N/s, N/min, N/h or N/d, for example 20/min",
    ],
    [
      "tool_schemas:\n  a: { frequency: 5000/min }",
      "p0.yaml:2:19 tool_schemas.a.frequency: counts more than 1000 calls; name a shorter time with fewer calls",
    ],
    [
      "tool_schemas:\n  a: { normalizers: { x: to_itn } }",
      "p0.yaml:2:26 tool_schemas.a.normalizers.x: `to_itn` is not a normalizer; did you mean `to_int`?",
    ],
    [
      "tool_schemas:\n  a: { normalizers: { x: to_int(3) } }",
      "p0.yaml:2:26 tool_schemas.a.normalizers.x: `to_int` takes no arguments; write `to_int`",
    ],
    [
      "tool_schemas:\n  a: { volatile_output: [took_ms] }",
      "p0.yaml:2:26 tool_schemas.a.volatile_output[0]: is not a path into the output; write it from the root in dots, for example $.took_ms",
    ],
    [
      'tool_schemas:\n  a: { volatile_output: [$.took_ms, "$.items[*].ts"] }',
      "p0.yaml:2:37 tool_schemas.a.volatile_output[1]: has brackets or a `*`: a path names members only, and goes into each item of a list by itself; write $.items.ts for the `ts` of all items, or $.meta.ts",
    ],
    [
      "tool_schemas:\n  a: { volatile_output: [\"$.a['b']\"] }",
      "p0.yaml:2:26 tool_schemas.a.volatile_output[0]: has brackets or a `*`: a path names members only, and goes into each item of a list by itself; write $.items.ts for the `ts` of all items, or $.meta.ts",
    ],
    [
      "tool_schemas:\n  a: { idempotency_argument: .key }\n",
      "p0.yaml:2:30 tool_schemas.a.idempotency_argument: is no path: a dot stands between two names; write the argument's name, or options.idempotency_key for one inside of another",
    ],
    [
      "tool_schemas:\n  a: { idempotency_argument: key. }\n",
      "p0.yaml:2:30 tool_schemas.a.idempotency_argument: is no path: a dot stands between two names; write the argument's name, or options.idempotency_key for one inside of another",
    ],
    [
      "tool_schemas:\n  a: { idempotency_argument: options..key }\n",
      "p0.yaml:2:30 tool_schemas.a.idempotency_argument: is no path: a dot stands between two names; write the argument's name, or options.idempotency_key for one inside of another",
    ],
    ...["$.options.key", "options.$.key", "options[0].key", "options.*", "a.{b}", "$"].map(
      (path): [string, string] => [
        `tool_schemas:\n  a: { idempotency_argument: "${path}" }\n`,
        "p0.yaml:2:30 tool_schemas.a.idempotency_argument: has a `$`, brackets, braces or a `*`: a path is made of the names of members; write options.key, without $.",
      ],
    ),
    [
      'tool_schemas:\n  a: { idempotency_argument: "options. key" }\n',
      "p0.yaml:2:30 tool_schemas.a.idempotency_argument: is no path: a dot stands between two names; write the argument's name, or options.idempotency_key for one inside of another",
    ],
    [
      "tool_schemas:\n  a: { start_within_ms: 86400001 }\n  b: { start_within_ms: 86400000 }\n",
      "p0.yaml:2:25 tool_schemas.a.start_within_ms: is more than a day: executors look no further back for calls to start; write at most 86400000",
    ],
    [
      "tool_schemas:\n  a: { canonical_fields: [] }",
      "p0.yaml:2:26 tool_schemas.a.canonical_fields: is empty; name the fields that make two calls the same, or leave the key out: then all arguments count",
    ],
    [
      "tool_schemas:\n  naïve: {}",
      'p0.yaml:2:3 tool_schemas["naïve"]: `tool` must be 1 to 256 printable ASCII characters after NFKC, without a backtick; write the name that agents use',
    ],
  ])("%s", (text, expected) => {
    expect(problems(text).map(shown)).toEqual([expected]);
  });

  it("of tiers name the action that a key belongs to", () => {
    const tiers = [
      'authorization:\n  tiers:\n    - { name: a, pattern: "x", action: hitl, ceiling: 3 }',
      '    - { name: b, pattern: "x||y", action: hilt }',
      '    - { pattern: "z", action: per_conversation_grant }',
    ];
    expect(problems(tiers.join("\n")).map(shown)).toEqual([
      "p0.yaml:3:46 authorization.tiers[0].ceiling: `ceiling` is not a key beside `action: hitl`; it belongs to `action: per_conversation_grant`",
      "p0.yaml:4:43 authorization.tiers[1].action: must be `allowlist` or `per_conversation_grant` or `hitl` or `deny`, not `hilt`; did you mean `hitl`?",
      "p0.yaml:5:7 authorization.tiers[2].name: is missing; add it",
      "p0.yaml:5:7 authorization.tiers[2].ceiling: is missing; add it",
    ]);
  });

  it("of YAML itself have a location too", () => {
    expect(problems("tools:\n\tcache_ttl_s: 1").map(shown)[0]).toBe(
      "p0.yaml:2:1 : not YAML: tabs are not allowed as indentation; indent by spaces",
    );
    expect(problems("tools: !secret { cache_ttl_s: 1 }").map(({ message }) => message)).toEqual([
      "not YAML: unresolved tag: !secret",
    ]);
    expect(problems("mode: shadow\n---\nmode: enforce").map(({ line }) => line)).toEqual([2]);
    expect(problems("").map(({ message }) => message)).toEqual(["the file is empty"]);
    expect(problems("- mode").map(({ message }) => message)).toEqual([
      "a policy is a map of blocks",
    ]);
    expect(problems("limits: *none").map(shown)).toEqual([
      "p0.yaml:1:9 limits: `*none` refers to no anchor above it; write the value out",
    ]);
    expect(problems("__proto__: { a: 1 }").map(({ message }) => message)).toEqual([
      "`__proto__` is not allowed as a key",
    ]);
    expect(
      problems("tool_schemas: { a: { input_schema: { const: 12345678901234567890 } } }").map(shown),
    ).toEqual([
      "p0.yaml:1:45 tool_schemas.a.input_schema.const: `12345678901234567890` is a number that would lose digits; write it in quotes",
    ]);
  });

  it("are limited where anchors refer to themselves or multiply", () => {
    const layers = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let layer = 1; layer < 10; layer += 1) {
      layers.push(`a${layer}: &a${layer} [${new Array(10).fill(`*a${layer - 1}`).join(", ")}]`);
    }
    const messages = problems(layers.join("\n")).map(({ message }) => message);
    expect(messages).toContain("is too deep or too large");
    expect(problems("tools: &t { x: *t }").map(({ message }) => message)).toContain(
      "is too deep or too large",
    );
  });

  it("are listed from top to bottom", () => {
    const text = "tools: { cache_ttl: 1 }\nmode: on\nchecks: { malformed: warn }\npresett: 1";
    expect(problems(text).map(({ line }) => line)).toEqual([1, 2, 3, 4]);
  });

  it("include anything but an object, which is not the empty policy", () => {
    for (const nothing of [null, undefined, 5, "preset: observe", true]) {
      expect(loadPolicy(nothing as unknown as object)).toMatchObject({ ok: false });
    }
  });

  it("of an object name paths", () => {
    const loaded = loadPolicy({ tools: { cache_ttl_s: new Date(0) }, mode: "on" });
    expect(loaded.ok ? [] : loaded.problems.map(shown)).toEqual([
      "policy:0:0 tools.cache_ttl_s: is not a JSON value; use objects, lists, texts, numbers, booleans",
      "policy:0:0 mode: must be `enforce` or `shadow`, not `on`; write `enforce` or `shadow`",
    ]);
  });
});
