import avro, { type Type } from "avsc";
import type { AvroSchema } from "./schema-files.ts";

/** The part of the reader's cursor that is needed to read an array. */
type Tap = {
  readonly buf: Buffer;
  pos: number;
  readLong(): number;
  skipLong(): void;
};

type Readable = { _read(tap: Tap): unknown };

const ArrayType = avro.types.ArrayType as unknown as new (
  schema: unknown,
  options: unknown,
) => Type & { readonly itemsType: Readable };

/**
 * An array that does not believe its own length: a count is bounded by the bytes that are left, since
 * each item takes at least one. The library's own reader would loop over any count.
 */
class BoundedArray extends ArrayType {
  _read(tap: Tap): unknown[] {
    const items: unknown[] = [];
    for (let count = tap.readLong(); count !== 0; count = tap.readLong()) {
      if (count < 0) {
        count = -count;
        tap.skipLong();
      }
      if (!(count <= tap.buf.length - tap.pos)) throw new RangeError("array longer than its bytes");
      for (; count > 0; count -= 1) items.push(this.itemsType._read(tap));
    }
    return items;
  }
}

function isArraySchema(schema: unknown): boolean {
  return (
    typeof schema === "object" && schema !== null && "type" in schema && schema.type === "array"
  );
}

/** Compiles a schema. Values are plain: a union's value stands for itself, unwrapped. */
export function compileAvro(schema: AvroSchema): Type {
  const options = {
    wrapUnions: "never" as const,
    omitRecordMethods: true,
    typeHook: (part: unknown, hookOptions: unknown) =>
      isArraySchema(part) ? new BoundedArray(part, hookOptions) : undefined,
  };
  // The file's schema is what the library takes; its own type for it is not readonly.
  return avro.Type.forSchema(schema as never, options as never);
}

/**
 * The schema with one field of its record read as text where it is written as bytes: both have one
 * form in Avro, and text is what the strict parser reads fastest.
 */
export function withTextField(schema: AvroSchema, field: string): AvroSchema {
  if (typeof schema === "string" || isUnion(schema)) return schema;
  const fields = (schema.fields ?? []).map((each) =>
    each.name === field ? { ...each, type: "string" } : each,
  );
  return { ...schema, fields };
}

function isUnion(schema: AvroSchema): schema is readonly AvroSchema[] {
  return Array.isArray(schema);
}
