import { describe, expect, it } from "vitest";
import { loadPolicy } from "../../../../services/adapters/policy/load.ts";

/** `file:line:column message` of every problem. */
function problems(...texts: readonly string[]): readonly string[] {
  const loaded = loadPolicy(texts.map((text, index) => ({ name: `p${index}.yaml`, text })));
  if (loaded.ok) return [];
  return loaded.problems.map(
    ({ file, line, column, message }) => `${file}:${line}:${column} ${message}`,
  );
}

describe("refuses a setting that is written twice:", () => {
  it("a block at top level and under policy_engine", () => {
    expect(problems("tools: {}\npolicy_engine:\n  tools: {}")).toEqual([
      "p0.yaml:3:3 `tools` is written twice, also at p0.yaml:1:1",
    ]);
  });

  it("a block in two files", () => {
    expect(problems("mode: enforce", "\npolicy_engine: { mode: enforce }")).toEqual([
      "p1.yaml:2:18 `mode` is written twice, also at p0.yaml:1:1",
    ]);
  });

  it("a key in one map", () => {
    expect(problems("tools:\n  cache_ttl_s: 1\n  cache_ttl_s: 1")).toEqual([
      "p0.yaml:3:3 `cache_ttl_s` is written twice, first in line 2",
    ]);
  });

  it("retries at top level and under tools", () => {
    const text = "tools: { retries: { max_attempts: 2 } }\nretries: { max_attempts: 3 }";
    expect(problems(text)).toContain(
      "p0.yaml:2:1 `retries` is written twice, also under `tools` at p0.yaml:1:1",
    );
  });

  it("the number of recent calls under both keys", () => {
    expect(problems("deduplication: { max_history: 100 }\nlimits: { recent_calls: 100 }")).toEqual([
      "p0.yaml:2:11 `recent_calls` and `deduplication.max_history` (p0.yaml:1:18) are the same setting",
    ]);
  });

  it("duplicates that are off and have a mode or a threshold", () => {
    const text =
      "tool_deduplication: { enabled: false, exact_duplicate_threshold: 2 }\nchecks: { duplicate_call: warn }";
    expect(problems(text)).toEqual([
      "p0.yaml:1:39 `exact_duplicate_threshold` contradicts `enabled: false`",
      "p0.yaml:2:11 `duplicate_call` is set twice: `tool_deduplication.enabled` (p0.yaml:1:23) switches it off",
    ]);
  });

  it("but not a setting on two levels", () => {
    const text = [
      "deduplication: { window_ms: 300000, cache_ttl_ms: 1000, scope: turn }",
      "tools: { dedupe_window_s: 60, cache_ttl_s: 30 }",
      "checks: { loop_repeat: warn }",
      "tool_schemas: { a: { dedupe_window_s: 5, scope: conversation, checks: { loop_repeat: off } } }",
    ];
    expect(problems(text.join("\n"))).toEqual([]);
  });
});

describe("refuses names that refer to nothing:", () => {
  it.each([
    ["checks: { loop_repeet: warn }", "p0.yaml:1:11 `loop_repeet` is not a reason code"],
    ["checks: { malformed: warn }", "p0.yaml:1:11 `malformed` is always enforced and has no mode"],
    [
      "tool_schemas: { a: { checks: { approval_denied: off } } }",
      "p0.yaml:1:32 `approval_denied` is always enforced and has no mode",
    ],
    ["unknown_tools: alow", "p0.yaml:1:1 `alow` is not the name of a tier"],
  ])("%s", (text, expected) => {
    expect(problems(text)).toEqual([expected]);
  });

  it("but not a tier for unknown tools", () => {
    const tier = 'authorization: { tiers: [{ name: care, pattern: "x", action: hitl }] }';
    expect(problems(`unknown_tools: care\n${tier}`)).toEqual([]);
  });
});

describe("refuses values that exclude each other:", () => {
  it.each([
    [
      "authorization: { tiers: [{ name: a, pattern: x, action: deny }, { name: a, pattern: y, action: deny }] }",
      "p0.yaml:1:67 the tier `a` is written twice, also at p0.yaml:1:28",
    ],
    [
      "authorization: { tiers: [{ name: allow, pattern: x, action: deny }] }",
      "p0.yaml:1:28 `allow` means something else in `unknown_tools`",
    ],
    [
      "tool_schemas: { a: { read_only: true, effects: [{ resource: a, kind: create }] } }",
      "p0.yaml:1:22 contradicts `effects`: a read changes nothing",
    ],
    [
      "tool_schemas: { a: { read_only: true, side_effect_resource: a } }",
      "p0.yaml:1:22 contradicts `side_effect_resource`: a read changes nothing",
    ],
    [
      "tool_schemas: { a: { idempotency_argument: key, canonical_fields: [id, key] } }",
      "p0.yaml:1:72 `key` is the idempotency argument, which is no part of identity",
    ],
    [
      'tool_schemas: { a: { side_effect_resource: "order/{id}" } }',
      "p0.yaml:1:22 is a plain name, which the canonical fields complete: it has no placeholders",
    ],
    ["conversation: { idle_ms: 10, max_age_ms: 5 }", "p0.yaml:1:17 is longer than `max_age_ms`"],
  ])("%s", (text, expected) => {
    expect(problems(text)).toEqual([expected]);
  });

  it("but not a read that declares effects of kind read", () => {
    expect(
      problems("tool_schemas: { a: { read_only: true, effects: [{ resource: a, kind: read }] } }"),
    ).toEqual([]);
  });
});
