import { describe, expect, test } from "vitest";
import { compileAvro } from "../../../services/wire/avro-types.ts";
import { parsingCanonicalForm, schemaFingerprint } from "../../../services/wire/fingerprint.ts";
import { readSchemaFiles } from "../../../services/wire/schema-files.ts";
import { SAMPLE_EVENTS } from "../../support/wire/samples.ts";
import { recordsOf } from "../../support/wire/schema-walk.ts";

const { current, released } = readSchemaFiles();
const schemas = Object.entries(current);
const fields = schemas.flatMap(([file, schema]) =>
  recordsOf(schema).flatMap((record) =>
    record.fields.map((field) => ({ location: `${file}: ${record.name}.${field.name}`, field })),
  ),
);

/** Whether this is a union without null, whose records name their own type. */
function isTagged(type: readonly unknown[]): boolean {
  return !type.includes("null");
}

test("the fields are found", () => {
  expect(fields.length).toBeGreaterThan(200);
});

test.each(schemas)("%s is a record of callgate.v1", (_file, schema) => {
  expect(schema).toMatchObject({ type: "record", namespace: "callgate.v1" });
});

describe("every field", () => {
  test("has a description", () => {
    const undocumented = fields.filter(({ field }) => !/^\S.*[.…]$/.test(field.doc ?? ""));
    expect(undocumented.map(({ location }) => location)).toEqual([]);
  });

  test("that may be absent is null first and by default", () => {
    const wrong = fields.filter(({ field }) => {
      if (!Array.isArray(field.type) || isTagged(field.type)) return false;
      return field.type.length !== 2 || field.type[0] !== "null" || field.default !== null;
    });
    expect(wrong.map(({ location }) => location)).toEqual([]);
  });

  test("that names the type of an event has that type as its default", () => {
    const events = fields.filter(({ location }) => /^decision-event: \w+\.type$/.test(location));
    const types = events.map(({ field }) => field.default).filter((each) => each !== undefined);
    expect(new Set(types)).toEqual(new Set(Object.keys(SAMPLE_EVENTS)));
  });

  test("that names a reason, status or kind is a string, never an enum", () => {
    const words = fields.filter(({ field }) => /^(reason|status|kind|type)$/.test(field.name));
    expect(words.length).toBeGreaterThan(5);
    expect(words.filter(({ field }) => !JSON.stringify(field.type).includes('"string"'))).toEqual(
      [],
    );
    expect(JSON.stringify(schemas)).not.toContain('"enum"');
  });
});

test("a record of one name is the same in every file", () => {
  const forms = new Map<string, Set<string>>();
  for (const [, schema] of schemas) {
    for (const record of recordsOf(schema)) {
      const shape = record.fields.map(({ name, type }) => [name, withoutDocs(type)]);
      const shapes = forms.get(record.name) ?? new Set();
      forms.set(record.name, shapes.add(JSON.stringify(shape)));
    }
  }
  const differing = [...forms].filter(([, shapes]) => shapes.size > 1).map(([name]) => name);
  expect(differing).toEqual([]);
});

/** A nested definition counts by its name, because only its first occurrence is complete. */
function withoutDocs(type: unknown): unknown {
  return JSON.parse(
    JSON.stringify(type, (key, value) => {
      if (key === "doc") return undefined;
      return typeof value === "object" && value !== null && "fields" in value ? value.name : value;
    }),
  );
}

test("proposals, results and the journal have no lists that a stranger could make endless", () => {
  for (const name of ["proposed-call", "result", "verdict"] as const) {
    expect(JSON.stringify(current[name])).not.toContain('"array"');
  }
});

test("the parsing canonical form has full names and only attributes that the bytes depend on", () => {
  const form = parsingCanonicalForm(
    compileAvro({
      type: "record",
      name: "Outer",
      namespace: "a.b",
      doc: "dropped",
      fields: [
        { name: "list", type: { type: "array", items: "long" }, default: [], doc: "dropped" },
        { name: "at", type: { type: "long", logicalType: "timestamp-millis" } },
        { name: "inner", type: { type: "record", name: "Inner", fields: [] } },
        { name: "again", type: ["null", "Inner"], default: null },
      ],
    }),
  );
  expect(form).toBe(
    '{"name":"a.b.Outer","type":"record","fields":[' +
      '{"name":"list","type":{"type":"array","items":"long"}},' +
      '{"name":"at","type":"long"},' +
      '{"name":"inner","type":{"name":"a.b.Inner","type":"record","fields":[]}},' +
      '{"name":"again","type":["null","a.b.Inner"]}]}',
  );
});

test("a release is a copy: unchanged schemas equal their released form", () => {
  const latest = new Map(released.map(({ name, schema }) => [name, schema]));
  for (const [name, schema] of latest) {
    const same = JSON.stringify(schema) === JSON.stringify(current[name]);
    const sameBytes =
      parsingCanonicalForm(compileAvro(schema)) ===
      parsingCanonicalForm(compileAvro(current[name]));
    expect({ name, same: same || !sameBytes }).toEqual({ name, same: true });
  }
});

// From the schema tests of the Avro specification, as signed 64-bit numbers.
test.each([
  ["null", 7195948357588979594n],
  ["boolean", -6970731678124411036n],
  ["int", 8247732601305521295n],
  ["long", -3434872931120570953n],
  ["float", 5583340709985441680n],
  ["double", -8181574048448539266n],
  ["bytes", 5746618253357095269n],
  ["string", -8142146995180207161n],
])("the fingerprint of %s is the published one", (schema, expected) => {
  const bytes = Buffer.from(schemaFingerprint(compileAvro(schema)));
  expect(bytes.readBigInt64LE()).toBe(expected);
});
