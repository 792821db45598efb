// The published JSON Schemas are generated from the vocabulary, and agree with the loader.
import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { policyJsonSchema } from "../../../services/adapters/policy/json-schema.ts";
import { loadPolicy } from "../../../services/adapters/policy/load.ts";

const ROOT = new URL("../../../", import.meta.url);

function readJson(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(new URL(path, ROOT), "utf8"));
}

const published = {
  "draft-2020-12": readJson("schemas/policy.schema.json"),
  "draft-07": readJson("schemas/policy.draft-07.schema.json"),
};

describe("the published schemas", () => {
  it.each(["draft-2020-12", "draft-07"] as const)("%s is current (npm run schemas)", (draft) => {
    expect(published[draft]).toEqual(JSON.parse(JSON.stringify(policyJsonSchema(draft))));
  });

  it.each(["policy.schema.json", "policy.draft-07.schema.json"])("%s is small", (name) => {
    const bytes = readFileSync(new URL(`schemas/${name}`, ROOT)).byteLength;
    expect(bytes).toBeLessThan(120_000);
  });

  it("have a description of every key", () => {
    const undescribed: string[] = [];
    collectUndescribed(published["draft-2020-12"], "$", undescribed);
    expect(undescribed).toEqual([]);
  });
});

const TIER = 'authorization: { tiers: [{ name: a, pattern: "x", action: ';

/** Policies with the verdict of the loader, which both schemas must share. */
const CASES: readonly (readonly [verdict: "valid" | "invalid", text: string])[] = [
  ["valid", readFileSync(new URL("test/fixtures/policies/templates/t1.yaml", ROOT), "utf8")],
  ["valid", readFileSync(new URL("test/fixtures/policies/templates/t2.yaml", ROOT), "utf8")],
  ["valid", readFileSync(new URL("test/fixtures/policies/templates/t3.yaml", ROOT), "utf8")],
  ["valid", "preset: observe\nmode: shadow\nunknown_tools: hitl"],
  ["valid", "preset: strict"],
  ["invalid", "presett: observe"],
  ["valid", "checks: { loop_repeat: warn }"],
  ["invalid", "checks: { malformed: warn }"],
  ["valid", "checks: { near_duplicate: warn }"],
  ["invalid", "checks: { loop_repeat: maybe }"],
  ["valid", "escalation: { ask: 1, options: off, end: { at: 4, lasts: conversation } }"],
  ["invalid", "escalation: { ask: 0 }"],
  ["invalid", "escalation: { ask: never }"],
  ["valid", "deduplication: { loop_threshold: { same_output: 3, any_output: off } }"],
  ["invalid", "deduplication: { scope: tenant }"],
  ["valid", `${TIER}hitl, approvals: 1, expires_ms: 1000 }] }`],
  ["valid", `${TIER}hitl, approvals: 2 }] }`],
  ["invalid", `${TIER}hitl, ceiling: 2 }] }`],
  ["invalid", `${TIER}per_conversation_grant }] }`],
  ["valid", "tool_schemas: { a: { input_schema: { type: object, properties: { b: {} } } } }"],
  ["valid", "tool_schemas: { a: { normalizers: { b: [trim, decimal], c: url } } }"],
  ["valid", 'tool_schemas: { a: { normalizers: { b: [collapse_space, "e164(US, valid)"] } } }'],
  ["valid", 'tool_schemas: { a: { normalizers: { b: "minor_units(USD)", c: x_order } } }'],
  ["invalid", 'tool_schemas: { a: { normalizers: { b: "trim(2)" } } }'],
  ["invalid", "tool_schemas: { a: { normalizers: { b: to_nothing } } }"],
  ["invalid", "tool_schemas: { a: { frequency: 20/minute } }"],
  ["valid", "tool_schemas: { a: { polling: { min_interval_ms: 1000 }, volatile: true } }"],
  ["valid", "tool_schemas: { a: { similarity: [{ field: b, threshold: 0.9 }] } }"],
  ["valid", "tool_schemas: { a: { sensitive: [b] } }"],
  ["valid", `${TIER}deny, when: { b: { at_most: 50 EUR } } }], default: ask }`],
  ["valid", `${TIER}deny, when: [{ b: { present: true } }] }], default: ask }`],
  ["invalid", `${TIER}deny, when: { b: { at_most: [1] } } }], default: ask }`],
  ["valid", "tool_schemas: { a: { variants: { rules: [{ when: { b: { not: 1 } } }] } } }"],
  ["invalid", "tool_schemas: { a: { variants: { rules: [{ when: { b: 1 } }] } } }"],
  ["invalid", "tool_schemas: { a: { commands: { rules: [{ when: { b: 1 } }] } } }"],
  ["valid", "budgets: { by_name: { a: { tools: b, when: { c: { in: [1] } }, per: day } } }"],
  ["invalid", "budgets: { by_name: { a: { tools: b, per: week } } }"],
  ["valid", "policy_engine: { budgets: { by_name: { a: { tools: b, max_tool_calls: 1 } } } }"],
  ["valid", "retries: { max_attempts: 2 }"],
  ["valid", "policy_engine: { kill: { all: true } }"],
  ["valid", "policy_engine: { limits: { recent_calls: 64 }, conversation: { idle_ms: 1000 } }"],
  ["invalid", "limits: { recent_calls: 100000 }"],
];

describe("the loader and the schemas agree", () => {
  const validate07 = new Ajv({ strict: false }).compile(published["draft-07"]);
  const validate2020 = new Ajv2020({ strict: false }).compile(published["draft-2020-12"]);

  it.each(CASES)("%s: %s", (verdict, text) => {
    const value: unknown = parse(text);
    const valid = verdict === "valid";
    expect(loadPolicy([{ name: "p.yaml", text }]).ok).toBe(valid);
    expect(validate2020(value)).toBe(valid);
    expect(validate07(value)).toBe(valid);
  });
});

type Node = { readonly [keyword: string]: unknown };

/** Paths of property schemas without a description. */
function collectUndescribed(node: unknown, path: string, undescribed: string[]): void {
  if (typeof node !== "object" || node === null) return;
  const properties = (node as Node)["properties"];
  for (const [name, property] of Object.entries((properties ?? {}) as Node)) {
    if ((property as Node)["description"] === undefined) undescribed.push(`${path}.${name}`);
  }
  for (const [name, child] of Object.entries(node))
    collectUndescribed(child, `${path}.${name}`, undescribed);
}
