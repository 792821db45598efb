import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../services/core/canonical/json-value.ts";
import { parseCanonical } from "../../../../services/core/canonical/parse-canonical.ts";
import type { PolicyDocument, ToolDocument } from "../../../../services/core/policy/document.ts";
import { compiled } from "../../../support/core/compile.ts";

function identityOf(tool: ToolDocument, args: string, more: Partial<PolicyDocument> = {}) {
  const parsed = parseCanonical(args);
  if (!parsed.ok) throw new Error(parsed.message);
  const { identity } = compiled({ ...more, tool_schemas: { tool } }).tool("tool");
  return identity(parsed.value as JsonObject, parsed.text);
}

const upper = { name: "to_upper", arguments: [] };

describe("the identity of a call", () => {
  test("consists of all its arguments by default", () => {
    expect(identityOf({}, '{"b":1,"a":[]}')).toMatchObject({
      text: '{"a":[],"b":1}',
      fields: null,
    });
  });

  test("consists of the declared fields, in canonical order, without missing ones", () => {
    const tool = { canonical_fields: ["b", "a.c", "x"] };
    expect(identityOf(tool, '{"a":{"c":1},"b":2,"z":3}')).toMatchObject({
      text: '{"a.c":1,"b":2}',
      fields: [2, 1],
    });
  });

  test("keeps each value at its index, so that none is taken for that of another field", () => {
    const tool = { canonical_fields: ["a", "b", "c"] };
    expect(identityOf(tool, '{"a":1}')).toMatchObject({ fields: [1] });
    expect(identityOf(tool, '{"b":1}')).toMatchObject({ fields: [null, 1] });
    expect(identityOf(tool, '{"a":null}')).toMatchObject({ fields: [null] });
  });

  test("consists of all arguments where every declared field is missing", () => {
    expect(identityOf({ canonical_fields: ["x"] }, '{"a":1}')).toMatchObject({
      text: '{"a":1}',
      fields: null,
    });
  });

  test("has its normalizers applied, also in nested fields", () => {
    const tool = { normalizers: { "a.b": [upper], missing: [upper] } };
    expect(identityOf(tool, '{"a":{"b":"x"}}')).toMatchObject({
      text: '{"a":{"b":"X"}}',
      normalized: { a: { b: "X" } },
    });
  });

  test("lists every normalizer that fails", () => {
    const toInt = [{ name: "to_int", arguments: [] }];
    const identity = identityOf({ normalizers: { a: toInt, b: toInt } }, '{"a":"x","b":"y"}');
    expect(identity).toMatchObject({ ok: false, problems: [{ path: "$.a" }, { path: "$.b" }] });
  });

  test("has the defaults of the schema filled in", () => {
    const tool: ToolDocument = {
      input_schema: { type: "object", properties: { n: { type: "integer", default: 5 } } },
    };
    expect(identityOf(tool, "{}")).toMatchObject({ text: '{"n":5}' });
    expect(identityOf(tool, '{"n":5}')).toMatchObject({ text: '{"n":5}' });
  });

  test("leaves out the argument that carries the idempotency key", () => {
    expect(identityOf({ idempotency_argument: "key" }, '{"a":1,"key":"k"}')).toMatchObject({
      text: '{"a":1}',
    });
  });

  test("leaves out a nested key argument, too, and refuses arguments without room for the key", () => {
    const tool = { idempotency_argument: "options.key" };
    const text = '{"a":1,"options":{"currency":"EUR"}}';
    for (const key of ["k1", "k2"]) {
      const args = `{"a":1,"options":{"currency":"EUR","key":"${key}"}}`;
      expect(identityOf(tool, args)).toMatchObject({ text });
      expect(identityOf({ ...tool, canonical_fields: ["a", "options"] }, args)).toMatchObject({
        text,
      });
    }
    for (const args of ['{"a":1}', '{"a":1,"options":{}}', '{"a":1,"options":{"key":"k"}}']) {
      expect(identityOf(tool, args)).toMatchObject({ text: '{"a":1}' });
    }
    expect(identityOf(tool, '{"a":1,"options":null}')).toEqual({
      ok: false,
      problems: [{ path: "$.options", message: "must be an object, or be left out" }],
    });
  });

  test("is the whole text under byte_hash, whatever fields and normalizers are declared", () => {
    const tool = { canonical_fields: ["a"], normalizers: { a: [upper] } };
    const deduplication = { strategy: "byte_hash" } as const;
    expect(identityOf(tool, '{"a":"x","b":1}', { deduplication })).toMatchObject({
      text: '{"a":"x","b":1}',
      fields: null,
    });
  });
});

describe("normalizers that use more than their argument", () => {
  const textOf = (tool: ToolDocument, args: JsonObject) => {
    const result = identityOf(tool, JSON.stringify(args));
    return result.ok ? result.text : result.problems[0]?.path;
  };

  test("leave an argument out that has its default, at any depth", () => {
    const omit = { name: "omit_if_default", arguments: [] };
    const document: ToolDocument = {
      input_schema: {
        type: "object",
        properties: {
          page: { type: "integer", default: 1 },
          filter: { type: "object", properties: { lang: { default: "en" } } },
        },
      },
      normalizers: { page: [omit], "filter.lang": [omit] },
    };
    expect(textOf(document, { q: "a", page: 1, filter: { lang: "en" } })).toBe(
      '{"filter":{},"q":"a"}',
    );
    expect(textOf(document, { q: "a", page: 2 })).toBe('{"page":2,"q":"a"}');
  });

  test("read the currency from another argument", () => {
    const document: ToolDocument = {
      normalizers: { amount: [{ name: "minor_units", arguments: ["currency"] }] },
    };
    expect(textOf(document, { amount: "1.5", currency: "EUR" })).toBe(
      '{"amount":150,"currency":"EUR"}',
    );
    expect(textOf(document, { amount: "1.5" })).toBe("$.amount");
  });

  test("make different spellings of one thing equal", () => {
    const phone: ToolDocument = { normalizers: { to: [{ name: "e164", arguments: ["US"] }] } };
    expect(textOf(phone, { to: "+1-555-0199" })).toBe(textOf(phone, { to: "5550199" }));
    const amount: ToolDocument = { normalizers: { amount: [{ name: "decimal", arguments: [] }] } };
    expect(textOf(amount, { amount: "100.00" })).toBe(textOf(amount, { amount: 100 }));
  });
});
