import { describe, expect, it, test } from "vitest";
import { lint } from "../../../../support/policy/linted.ts";

const SCHEMA =
  "{ type: object, additionalProperties: false, properties: { repo: { type: string }, to: { type: array, items: { type: string } }, files: { type: array, items: { type: object, properties: { path: { type: string } } } }, open: { type: object } } }";

const CODES = ["unknown-argument", "unfilled-path", "whole-list"];

function listFindings(keys: string, schema = SCHEMA): readonly string[] {
  return lint(`tool_schemas: { push: { input_schema: ${schema}, ${keys} } }`)
    .filter(({ code }) => CODES.includes(code))
    .map(({ severity, message, remedy }) => `${severity}: ${message} (${remedy})`);
}

const effect = (resource: string, kind = "create") =>
  `effects: [{ resource: "${resource}", kind: ${kind} }]`;

describe("a template that no call can fill", () => {
  test("goes through a list without brackets", () => {
    expect(listFindings(effect("{repo}/{files.path}"))).toEqual([
      "error: `files.path` in `effects` goes through the list `files` as if it were one object: every call is refused (write `files[].path`, for each element)",
    ]);
    expect(listFindings('reads: ["{files.path}"]')).toEqual([
      "error: `files.path` in `reads` goes through the list `files` as if it were one object: the resource is never named (write `files[].path`, for each element)",
    ]);
  });

  test("names a parameter that the schema does not have", () => {
    expect(listFindings(effect("{repos}"))).toEqual([
      "error: `repos` in `effects` is not an argument in the schema of `push`: every call is refused (correct the name, or the schema)",
    ]);
    expect(listFindings(effect("{repos}", "update"))).toEqual([
      "warning: `repos` in `effects` is not an argument in the schema of `push` (correct the name, or the schema)",
    ]);
    expect(listFindings(effect("{files[].name}"))).toHaveLength(1);
  });

  test("goes into a value without members, or into one that is no list", () => {
    expect(listFindings(effect("{repo.name}"))[0]).toMatch(/^error: .*has no members/);
    expect(listFindings(effect("{repo[]}"))[0]).toMatch(/^warning: .*is no list/);
  });

  test("is seen in a variant, and in canonical fields and normalizers", () => {
    const variants = `variants: { argument: repo, rules: [{ equals: x, ${effect("{files.path}")} }] }`;
    expect(listFindings(variants)[0]).toMatch(/^error/);
    expect(listFindings("canonical_fields: [files.path]")[0]).toMatch(/^error/);
    expect(listFindings("normalizers: { files.path: trim }")[0]).toMatch(/^error/);
  });

  test("is seen after an alias is applied", () => {
    const findings = lint(
      `aliases: [{ resource: "order/{id}", names: [push.order] }]\ntool_schemas: { push: { input_schema: ${SCHEMA}, ${effect("order/{id}/x")} } }`,
    );
    expect(findings.map(({ message }) => message).join()).toContain("`order` in `effects`");
  });
});

it("says that a list as a whole names one resource", () => {
  expect(listFindings(effect("mail/{to}"))).toEqual([
    "info: `to` in `effects` is a list, and names one resource: a call about one of its elements has another (write `{to[]}` for a resource for each element)",
  ]);
});

it.each([
  ["a list is gone into", effect("{repo}/{files[].path}"), SCHEMA],
  ["the elements are named", effect("mail/{to[]}"), SCHEMA],
  ["the object is open", effect("{open.anything.in.it}"), SCHEMA],
  [
    "the schema refers to another",
    effect("{files.path}"),
    "{ $ref: '#/$defs/x', $defs: { x: {} } }",
  ],
  [
    "a part of it is not known",
    effect("{a.b}"),
    "{ type: object, properties: { a: { anyOf: [{}] } } }",
  ],
])("finds nothing where %s", (_why, keys, schema) => {
  expect(listFindings(keys, schema)).toEqual([]);
});
