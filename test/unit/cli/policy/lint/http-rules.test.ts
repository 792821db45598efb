import { expect, test } from "vitest";
import { lint } from "../../../../support/policy/linted.ts";

function told(rule: string, set = "http"): readonly string[] {
  return lint(
    `tool_schemas: { fetch: { variants: { set: ${set}, rules: [{ ${rule}, risk_level: HIGH }] } } }`,
  )
    .filter(({ code }) => code === "unfit-rule")
    .map(({ severity, path }) => `${severity} ${path}`);
}

test.each([
  ["match", "match: 'internal\\.example'"],
  ["match", "match: '^GET https://'"],
  ["equals", "equals: ['/admin', 'GET /']"],
  ["like", "like: 'https://*|*/admin'"],
])("a rule of HTTP whose %s fits no method is told: %s", (key, rule) => {
  expect(told(rule)).toEqual([`warning tool_schemas.fetch.variants.rules[0].${key}`]);
});

test.each([
  "equals: delete",
  "equals: [POST, /x]",
  "equals: XYZZY",
  "like: 'put|patch'",
  "like: 'p*'",
  "match: '^(post|put)$'",
  "match: '^[^G]'",
  "match: 'MKCOL'",
])("but not %s", (rule) => {
  expect(told(rule)).toEqual([]);
});

test("nor a rule of another set", () => {
  expect(told("match: 'internal\\.example'", "sql")).toEqual([]);
});
