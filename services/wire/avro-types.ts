import avro, { type Type } from "avsc";
import { type ClosedList, LISTS, member } from "./closed-lists.ts";
import type { AvroSchema } from "./schema-files.ts";
import { taggedUnion } from "./tagged-union.ts";

/** Kept as a function for loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

/** The part of the library's read cursor that reading an array needs. */
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
 * An array whose count is not trusted: the bytes that are left bound it, since each item takes at
 * least one. The library's own reader would loop over any count.
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

  /** Steps over a field that only the writer's schema has. */
  _skip(tap: Tap): void {
    skipBlocks(tap, () => this.itemsType._skip(tap));
  }
}

const MapType = avro.types.MapType as unknown as new (
  schema: unknown,
  options: unknown,
) => Type & { readonly valuesType: Readable };

/** A map whose count is not trusted. No schema of ours has a map, but a foreign writer's may. */
class BoundedMap extends MapType {
  _skip(tap: Tap): void {
    skipBlocks(tap, () => {
      tap.skipString();
      this.valuesType._skip(tap);
    });
  }
}

/** Skips blocks. A block states its number of items, or that and its bytes; neither is trusted. */
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

/** The largest whole number whose value and sign the library's arithmetic keeps exactly. */
export const EXACT_MAX = 2 ** 52 - 1;

function isExact(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(value as number) <= EXACT_MAX;
}

/** A long that refuses numbers that the library would read with another value or sign. */
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

type Writing = { readonly buf: Buffer; pos: number };
type Writable = { _write(tap: Writing, value: unknown): void };

const StringType = avro.types.StringType as unknown as new () => Type & Writable;

/**
 * Below this length a text's length takes two bytes at most, and writing its characters in a loop
 * is faster than a call.
 */
const SHORT_TEXT = 128;
const ASCII_MAX = 0x7f;

/**
 * Text, which is mostly ids and digests: short ASCII is written without measuring its bytes first.
 */
class Text extends StringType {
  override _write(tap: Writing, value: unknown): void {
    if (typeof value === "string" && value.length < SHORT_TEXT && wroteAscii(tap, value)) return;
    super._write(tap, value);
  }
}

/**
 * Writes the text as ASCII. False where it has other characters, or no room is left: nothing is
 * written then.
 */
function wroteAscii(tap: Writing, text: string): boolean {
  const { buf, pos } = tap;
  const { length } = text;
  // Avro writes lengths as zigzag numbers, seven bits a byte.
  const coded = 2 * length;
  const isLong = coded > ASCII_MAX;
  let at = pos + (isLong ? 2 : 1);
  if (at + length > buf.length) return false;
  for (let index = 0; index < length; index += 1, at += 1) {
    const unit = charCodeAt.call(text, index);
    if (unit > ASCII_MAX) return false;
    buf[at] = unit;
  }
  buf[pos] = isLong ? (coded & ASCII_MAX) | 0x80 : coded;
  if (isLong) buf[pos + 1] = coded >> 7;
  tap.pos = at;
  return true;
}

type TextReader = { _read(tap: Tap): string };

/** A text of a closed list: reading refuses a text that is not on the list. */
function listedText(list: ClosedList<string>): Type {
  return new (class extends Text {
    _read(tap: Tap): string {
      return member(list, (StringType.prototype as unknown as TextReader)._read(tap));
    }
  })();
}

const UnionType = avro.types.UnwrappedUnionType as unknown as new (
  schema: unknown,
  options: unknown,
) => Type & Writable & { readonly types: readonly [Writable, Writable] };

/**
 * A value that may be absent: its branch is known at once, without trying each type of the union.
 */
function nullableOf(valueType: string) {
  return class Nullable extends UnionType {
    override _write(tap: Writing, value: unknown): void {
      const isValue = typeof value === valueType;
      if (!(isValue || value === null) || tap.pos >= tap.buf.length) {
        super._write(tap, value);
        return;
      }
      // The branch as a zigzag number: 0 or 1.
      tap.buf[tap.pos] = isValue ? 2 : 0;
      tap.pos += 1;
      if (isValue) this.types[1]._write(tap, value);
    }
  };
}

const NullableText = nullableOf("string");
const NullableNumber = nullableOf("number");
/** For other values only the absence is decided at once. */
const NullableOther = nullableOf("");

function unionType(schema: readonly unknown[], options: unknown): Type | undefined {
  const [first, second] = schema;
  if (first !== "null") return taggedUnion(schema, options);
  if (schema.length !== 2) return undefined;
  const is = (type: string): boolean => second === type || hasType(second, type);
  if (is("string")) return new NullableText(schema, options);
  if (is("long") || is("int")) return new NullableNumber(schema, options);
  return new NullableOther(schema, options);
}

/**
 * Our own type for a schema of which the library's type is not used; undefined: use the library's.
 */
function ownType(schema: unknown, options: unknown): Type | undefined {
  if (Array.isArray(schema)) return unionType(schema, options);
  if (schema === "string" || hasType(schema, "string")) return textType(schema);
  if (schema === "long" || hasType(schema, "long")) return new ExactLong();
  if (hasType(schema, "map")) return new BoundedMap(schema, options);
  return hasType(schema, "array") ? new BoundedArray(schema, options) : undefined;
}

function textType(schema: unknown): Type {
  const { logicalType } = schema as { readonly logicalType?: string };
  const list = logicalType === undefined ? undefined : LISTS.get(logicalType);
  return list === undefined ? new Text() : listedText(list);
}

function hasType(schema: unknown, type: string): boolean {
  return typeof schema === "object" && schema !== null && "type" in schema && schema.type === type;
}

/** Compiles a schema. Values are plain: the value of a union stands for itself, unwrapped. */
export function compileAvro(schema: AvroSchema): Type {
  const options = {
    wrapUnions: "never" as const,
    omitRecordMethods: true,
    typeHook: ownType,
  };
  // The library accepts the file's schema; only its declared type is not readonly.
  return avro.Type.forSchema(schema as never, options as never);
}

/**
 * The schema with one bytes field of its record read as text: both have one form in Avro, and the
 * strict parser reads text fastest.
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
