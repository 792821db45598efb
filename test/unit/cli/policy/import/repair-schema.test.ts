import { describe, expect, it, test } from "vitest";
import { repairSchema } from "../../../../../services/cli/policy/import/repair-schema.ts";

function repaired(schema: unknown) {
  const notes: string[] = [];
  const result = repairSchema(schema, (path, message) => notes.push(`${path} ${message}`));
  return { schema: result, notes };
}

/** The repaired schema of one property, `p`. */
function property(schema: object) {
  const { schema: whole, notes } = repaired({ properties: { p: schema } });
  const properties = whole?.["properties"] as Record<string, object>;
  return { schema: properties["p"], notes };
}

test.each(["constructor", "valueOf", "hasOwnProperty", "__proto__"])(
  "accepts a keyword named like an inherited member: %s",
  (keyword) => {
    const schema = JSON.parse(`{"type":"string","${keyword}":"a"}`);
    expect(property(schema).schema).toMatchObject({ type: "string" });
  },
);

describe("schema dialects", () => {
  it.each([
    ["dict", "object"],
    ["str", "string"],
    ["String", "string"],
    ["float", "number"],
    ["Number", "number"],
    ["int", "integer"],
    ["bool", "boolean"],
    ["Boolean", "boolean"],
    ["list", "array"],
    ["tuple", "array"],
  ])("translate the type %s to %s", (written, type) => {
    const { schema, notes } = property({ type: written });
    expect(schema).toEqual({ type });
    expect(notes).toEqual([`$.properties.p.type \`${written}\` is written as ${type}`]);
  });

  it.each([
    [{ type: "list(str)" }, { type: "array", items: { type: "string" } }],
    [{ type: "List[int]" }, { type: "array", items: { type: "integer" } }],
    [{ type: ["str", "null"] }, { type: ["string", "null"] }],
    [{ type: "Enum", default: "x" }, { default: "x" }],
    [{ items: [{ type: "str" }] }, { prefixItems: [{ type: "string" }] }],
    [{ nullable: true, type: "str" }, { type: ["string", "null"] }],
    [
      { minimum: 1, exclusiveMinimum: true },
      { minimum: 1, exclusiveMinimum: 1 },
    ],
    [{ maximum: 1, exclusiveMaximum: false }, { maximum: 1 }],
  ])("translate %j", (written, expected) => {
    const { schema, notes } = property(written);
    expect(schema).toEqual(expected);
    expect(notes.length).toBeGreaterThan(0);
  });

  it("move a boolean `required` to the list of its parent", () => {
    const { schema, notes } = repaired({
      required: ["c"],
      properties: { a: { required: true }, b: { required: false }, c: {} },
    });
    expect(schema).toEqual({ required: ["c", "a"], properties: { a: {}, b: {}, c: {} } });
    expect(notes).toEqual([
      "$.properties.a.required is a boolean: written in the list of its parent",
      "$.properties.b.required is a boolean: written in the list of its parent",
    ]);
  });
});

describe("an unreadable part of a schema", () => {
  it.each([
    [{ minLength: "3" }, "minLength"],
    [{ enum: "a" }, "enum"],
    [{ enum: [] }, "enum"],
    [{ required: "p" }, "required"],
    [{ properties: [] }, "properties"],
    [{ anyOf: [] }, "anyOf"],
    [{ anyOf: ["string"] }, "anyOf"],
    [{ additionalProperties: "no" }, "additionalProperties"],
    [{ pattern: "(?=a)" }, "pattern"],
    [{ pattern: 3 }, "pattern"],
    [{ $ref: "#/$defs/none" }, "$ref"],
    [{ $ref: "https://example.org/a.json" }, "$ref"],
    [{ $id: "https://example.org/a.json" }, "$id"],
    [{ maximum: 2 ** 63 }, "maximum"],
    [{ default: { deep: [2 ** 63] } }, "default"],
    [{ patternProperties: { "(?=a)": {} } }, "patternProperties.(?=a)"],
    [{ $defs: { a: "string" } }, "$defs.a"],
  ])("is left out with a note: %j", (written, keyword) => {
    const { schema, notes } = property(written);
    expect(JSON.stringify(schema)).toMatch(/^\{("[$\w]+":\{\})?\}$/);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toContain(`$.properties.p.${keyword} `);
    expect(notes[0]).toContain("left out");
  });

  it.each([["text"], [[1]], [true]])("leaves no schema of arguments: %j", (written) => {
    expect(repaired(written)).toEqual({
      schema: null,
      notes: ["$ is not a schema and is left out"],
    });
  });

  it("is not noted if there is no schema at all", () => {
    expect(repaired(undefined)).toEqual({ schema: null, notes: [] });
  });
});

describe("a repaired schema", () => {
  it("keeps everything that checks arguments, without texts for people", () => {
    const written = {
      $schema: "http://json-schema.org/draft-07/schema#",
      title: "Args",
      type: "object",
      properties: {
        description: { type: "string", description: "A property of this name stays." },
        child: { $ref: "#/$defs/child" },
      },
      $defs: { child: { type: "object", additionalProperties: false } },
      required: ["description"],
    };
    expect(repaired(written)).toEqual({
      schema: {
        type: "object",
        properties: { description: { type: "string" }, child: { $ref: "#/$defs/child" } },
        $defs: { child: { type: "object", additionalProperties: false } },
        required: ["description"],
      },
      notes: [],
    });
  });
});
