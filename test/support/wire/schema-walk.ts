// Reads Avro schemas as data: their records, and whether one schema can read what another wrote.
import { compileAvro } from "../../../services/wire/avro-types.ts";
import type { AvroField, AvroSchema } from "../../../services/wire/schema-files.ts";

export type RecordSchema = Extract<AvroSchema, { readonly type: AvroSchema }> & {
  readonly name: string;
  readonly fields: readonly AvroField[];
};

function isRecord(schema: AvroSchema): schema is RecordSchema {
  return typeof schema === "object" && "fields" in schema && schema.fields !== undefined;
}

/** Every record that a schema defines, including itself. */
export function recordsOf(schema: AvroSchema): readonly RecordSchema[] {
  if (typeof schema === "string") return [];
  if (Array.isArray(schema)) return schema.flatMap(recordsOf);
  if (isRecord(schema)) return [schema, ...schema.fields.flatMap((field) => recordsOf(field.type))];
  return "items" in schema && schema.items !== undefined ? recordsOf(schema.items) : [];
}

/** A copy of the schema in which one record, given by its name, was changed. */
export function withRecord(
  schema: AvroSchema,
  name: string,
  change: (record: RecordSchema) => RecordSchema,
): AvroSchema {
  if (typeof schema === "string") return schema;
  if (Array.isArray(schema)) return schema.map((branch) => withRecord(branch, name, change));
  if (isRecord(schema)) {
    const fields = schema.fields.map((field) => ({
      ...field,
      type: withRecord(field.type, name, change),
    }));
    const walked = { ...schema, fields };
    return schema.name === name ? change(walked) : walked;
  }
  const items = "items" in schema ? schema.items : undefined;
  return items === undefined ? schema : { ...schema, items: withRecord(items, name, change) };
}

/** A copy in which one field of one record was changed; undefined removes it. */
export function withField(
  schema: AvroSchema,
  [record, name]: readonly [record: string, field: string],
  change: (field: AvroField) => AvroField | undefined,
): AvroSchema {
  return withRecord(schema, record, (recordSchema) => {
    const fields = recordSchema.fields.flatMap((field) =>
      field.name === name ? (change(field) ?? []) : field,
    );
    if (!recordSchema.fields.some((field) => field.name === name))
      throw new Error(`no field ${name}`);
    return { ...recordSchema, fields };
  });
}

/** Why a reader with one schema cannot read what another wrote; undefined: it can. */
export function incompatibility(reader: AvroSchema, writer: AvroSchema): string | undefined {
  try {
    compileAvro(reader).createResolver(compileAvro(writer));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return undefined;
}
