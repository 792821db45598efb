import avro, { type Type } from "avsc";
import type { AvroSchema } from "./schema-files.ts";

/** The part of the reader's cursor that is needed to read an array. */
type Tap = {
  readonly buf: Buffer;
  pos: number;
  readLong(): number;
  skipLong(): void;
  skipString(): void;
};

type Readable = { _read(tap: Tap): unknown; _skip(tap: Tap): void };

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

  /** Steps over a field that only the writer has. */
  _skip(tap: Tap): void {
    skipBlocks(tap, () => this.itemsType._skip(tap));
  }
}

const MapType = avro.types.MapType as unknown as new (
  schema: unknown,
  options: unknown,
) => Type & { readonly valuesType: Readable };

/** The same for a map, which no schema of ours has but a foreign writer's may. */
class BoundedMap extends MapType {
  _skip(tap: Tap): void {
    skipBlocks(tap, () => {
      tap.skipString();
      this.valuesType._skip(tap);
    });
  }
}

/** A block says how many items it has, or that and its bytes; neither is believed. */
function skipBlocks(tap: Tap, skipItem: () => void): void {
  for (let count = tap.readLong(); count !== 0; count = tap.readLong()) {
    const bytes = count < 0 ? tap.readLong() : Math.abs(count);
    const left = tap.buf.length - tap.pos;
    if (!(bytes >= 0 && bytes <= left)) throw new RangeError("array longer than its bytes");
    if (count < 0) tap.pos += bytes;
    else for (let item = 0; item < count; item += 1) skipItem();
  }
}

type LongTap = { readLong(): number; writeLong(value: number): void };

const LongType = avro.types.LongType as unknown as new () => Type;

/** Whole numbers up to here keep their value and sign in the library's arithmetic; beyond, not all do. */
export const EXACT_MAX = 2 ** 52 - 1;

function isExact(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(value as number) <= EXACT_MAX;
}

/** A long that refuses what the library would read as another number, or with another sign. */
class ExactLong extends LongType {
  _check(value: unknown, _flags: unknown, hook?: (value: unknown, type: Type) => void): boolean {
    if (isExact(value)) return true;
    hook?.(value, this);
    return false;
  }

  _read(tap: LongTap): number {
    const value = tap.readLong();
    if (isExact(value)) return value;
    throw new RangeError("number of more than 52 bits");
  }

  _write(tap: LongTap, value: unknown): void {
    if (!isExact(value)) throw new RangeError("not a whole number of at most 52 bits");
    tap.writeLong(value);
  }
}

/** Our own types in place of the library's, where a schema names one of these. */
function ownType(schema: unknown, options: unknown): Type | undefined {
  if (schema === "long" || hasType(schema, "long")) return new ExactLong();
  if (hasType(schema, "map")) return new BoundedMap(schema, options);
  return hasType(schema, "array") ? new BoundedArray(schema, options) : undefined;
}

function hasType(schema: unknown, type: string): boolean {
  return typeof schema === "object" && schema !== null && "type" in schema && schema.type === type;
}

/** Compiles a schema. Values are plain: a union's value stands for itself, unwrapped. */
export function compileAvro(schema: AvroSchema): Type {
  const options = {
    wrapUnions: "never" as const,
    omitRecordMethods: true,
    typeHook: ownType,
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
