import { describe, expect, it } from "vitest";
import { createJsonSchemaCompiler } from "../../../../services/adapters/json-schema/compile-json-schema.ts";
import { compilePattern } from "../../../../services/adapters/patterns/compile-pattern.ts";
import type { CompiledJsonSchema } from "../../../../services/core/capabilities.ts";

const compileJsonSchema = createJsonSchemaCompiler(compilePattern);

function compiled(schema: unknown): CompiledJsonSchema {
  const result = compileJsonSchema(schema);
  if (!result.ok) throw new Error(result.problem);
  return result;
}

function problemOf(schema: unknown): string {
  const result = compileJsonSchema(schema);
  return result.ok ? "" : result.problem;
}

const ORDER = {
  type: "object",
  required: ["order_id", "amount"],
  properties: {
    order_id: { type: "string" },
    amount: { type: ["number", "string"] },
    currency: { enum: ["EUR", "USD"] },
    lines: { type: "array", items: { type: "object", required: ["sku"] } },
  },
  additionalProperties: false,
};

describe("validate", () => {
  it("finds no problem in a valid value", () => {
    const value = { order_id: "7", amount: "1.00", currency: "EUR", lines: [{ sku: "a" }] };
    expect(compiled(ORDER).validate(value)).toEqual([]);
  });

  it("lists every problem with its JSON path, without values", () => {
    const value = { amount: true, currency: "secret", lines: [{ sku: 1 }, {}], "other key": 1 };
    expect(compiled(ORDER).validate(value)).toEqual([
      { path: "$.order_id", message: "is missing" },
      { path: '$["other key"]', message: "is not an argument of this tool" },
      { path: "$.amount", message: "must be number or string, not boolean" },
      { path: "$.currency", message: 'must be one of "EUR", "USD"' },
      { path: "$.lines[1].sku", message: "is missing" },
    ]);
  });

  it("limits the number of problems", () => {
    const problems = compiled({ items: { type: "string" } }).validate(new Array(100).fill(1));
    expect(problems).toHaveLength(33);
    expect(problems.at(-1)).toEqual({ path: "$", message: "has 68 more problems" });
  });

  it("checks known formats and patterns, and ignores keywords it does not know", () => {
    const schema = { type: "string", format: "date", pattern: "^2", "x-note": "hi" };
    expect(compiled(schema).validate("2026-01-31")).toEqual([]);
    expect(
      compiled(schema)
        .validate("1926-02-31")
        .map((p) => p.message),
    ).toEqual(['must match pattern "^2"', 'must match format "date"']);
    expect(compiled({ format: "no-such-format" }).validate("x")).toEqual([]);
  });

  it("distinguishes the patterns of one schema", () => {
    const { validate } = compiled({ properties: { a: { pattern: "^a" }, b: { pattern: "^b" } } });
    expect(validate({ a: "a", b: "b" })).toEqual([]);
    expect(validate({ a: "b", b: "a" }).map((problem) => problem.path)).toEqual(["$.a", "$.b"]);
  });

  it("follows references inside the schema, also recursive ones", () => {
    const schema = { type: "object", properties: { child: { $ref: "#" }, n: { type: "integer" } } };
    expect(compiled(schema).validate({ child: { child: { n: "1" } } })).toEqual([
      { path: "$.child.child.n", message: "must be integer, not string" },
    ]);
  });

  it("separates schemas, also those with the same id", () => {
    const first = compiled({ $id: "urn:tool:order", type: "string" });
    const second = compiled({ $id: "urn:tool:order", type: "number" });
    expect(first.validate("x")).toEqual([]);
    expect(second.validate("x")).toHaveLength(1);
  });
});

/** Definitions that each refer to the next one twice. */
function multiplied(count: number): object {
  const definitions = Array.from({ length: count }, (_, at) => {
    const next = { $ref: `#/$defs/d${at + 1}` };
    return [`d${at}`, at === count - 1 ? {} : { anyOf: [next, next] }] as const;
  });
  return { $defs: Object.fromEntries(definitions), $ref: "#/$defs/d0" };
}

describe("the cost of a call", () => {
  const child = { properties: { child: { $ref: "#" } } };
  const nested = (levels: number): object => (levels === 1 ? {} : { child: nested(levels - 1) });

  it("is bounded where a schema refers to itself from several alternatives", () => {
    const { validate } = compiled({ anyOf: [child, { ...child, required: ["none"] }, child] });
    expect(validate(nested(11))).toEqual([]);
    expect(validate(nested(12))).toEqual([
      { path: "$", message: "has more than 11 levels, too many to check" },
    ]);
  });

  it("is not limited where it refers to itself once, or for different parts of the value", () => {
    const tree = {
      properties: { left: { $ref: "#" }, right: { $ref: "#" }, child: { $ref: "#" } },
    };
    for (const schema of [child, { allOf: [child] }, { anyOf: [tree, { type: "string" }] }]) {
      expect(compiled(schema).validate(nested(30))).toEqual([]);
    }
  });

  it("does not grow quadratically with a list", () => {
    const { validate } = compiled({ uniqueItems: true });
    const items = Array.from({ length: 40_000 }, (_, id) => ({ id }));
    expect(validate(items)).toEqual([]);
    expect(validate([...items, { id: 7 }])).toEqual([
      { path: "$", message: "must not have equal items" },
    ]);
    expect(compiled({ uniqueItems: false }).validate([1, 1])).toEqual([]);
  });
});

describe("compiling refuses", () => {
  it.each([
    ["a wrong type", { type: "object", properties: { a: { type: "str" } } }, "$.properties.a.type"],
    ["a boolean required", { properties: { a: { required: true } } }, "$.properties.a.required"],
    ["a reference outside", { $ref: "https://example.org/s.json" }, "nothing is fetched"],
    ["a dangling reference", { $ref: "#/$defs/none" }, "`$ref` #/$defs/none"],
    [
      "references that never end",
      { $defs: { a: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" },
      "end",
    ],
    ["a pattern with look-ahead", { pattern: "(?=a)" }, "cannot run in linear time"],
    ["an unknown dialect", { $schema: "https://example.org/dialect" }, "dialect"],
    ["a list", [], "must be an object or a boolean"],
    ["too many nodes", { allOf: new Array(20_001).fill({}) }, "more than 20000 nodes"],
    ["references that multiply", multiplied(15), "with its references expanded"],
  ])("%s", (_name, schema, problem) => {
    expect(problemOf(schema)).toContain(problem);
  });

  it("schemas that are too deep", () => {
    let schema: object = {};
    for (let level = 0; level < 70; level += 1) schema = { items: schema };
    expect(problemOf(schema)).toBe("the schema is deeper than 64 levels");
  });
});

describe("filling defaults", () => {
  it("fills missing values in nested objects and lists, and does not change the argument", () => {
    const { defaults } = compiled({
      properties: {
        page: { default: 1 },
        cc: { default: null },
        options: { default: {}, properties: { sort: { default: "asc" } } },
        lines: { items: { properties: { count: { default: 1 } } } },
      },
    });
    const value = { page: 2, lines: [{ count: 5 }, {}] };
    expect(defaults(value)).toEqual({
      page: 2,
      cc: null,
      options: { sort: "asc" },
      lines: [{ count: 5 }, { count: 1 }],
    });
    expect(value).toEqual({ page: 2, lines: [{ count: 5 }, {}] });
  });

  it("follows local references and allOf, but not alternatives", () => {
    const { defaults } = compiled({
      $defs: { paged: { properties: { page: { default: 1 } } } },
      $ref: "#/$defs/paged",
      allOf: [{ properties: { size: { default: 10 } } }],
      anyOf: [{ properties: { open: { default: true } } }],
    });
    expect(defaults({})).toEqual({ page: 1, size: 10 });
  });

  it("fills nothing where a schema refers to itself", () => {
    const { defaults } = compiled({ properties: { a: { default: {}, $ref: "#" } } });
    expect(defaults({})).toEqual({});
  });
});
