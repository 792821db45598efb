/**
 * A union of records that each name their own type in the field `type`: the default of that field
 * in the schema is the record's tag. The library's own unions guess the record, or wrap it.
 */
import avro, { type Type } from "avsc";

type Tap = { readLong(): number; writeLong(value: number): void };
type Tagged = { readonly type?: unknown };
type Hook = (value: unknown, type: Type) => void;

type Branch = Type & {
  readonly name?: string;
  readonly fields?: readonly { readonly name: string; defaultValue(): unknown }[];
  _read(tap: Tap): Tagged;
  _write(tap: Tap, value: Tagged): void;
  _check(value: unknown, flags: unknown, hook?: Hook, path?: unknown): boolean;
};

type Resolver = { _read: (tap: Tap) => unknown };

const UnionType = avro.types.WrappedUnionType as unknown as new (
  schema: unknown,
  options: unknown,
) => Type & { readonly types: readonly Branch[] };

export function taggedUnion(schema: readonly unknown[], options: unknown): Type {
  const indexes = new Map<unknown, number>();
  const union = new (class extends UnionType {
    _check(value: Tagged, flags: unknown, hook?: Hook, path?: unknown): boolean {
      const branch = this.types[indexes.get(value?.type) ?? -1];
      if (branch !== undefined) return branch._check(value, flags, hook, path);
      hook?.(value, this);
      return false;
    }

    _read(tap: Tap): Tagged {
      const index = tap.readLong();
      const branch = this.types[index];
      if (branch === undefined) throw new RangeError(`no record has the number ${index}`);
      return withTag(branch._read(tap), index);
    }

    _write(tap: Tap, value: Tagged): void {
      const index = indexes.get(value.type);
      if (index === undefined) throw new TypeError("no record has the type of the value");
      tap.writeLong(index);
      (this.types[index] as Branch)._write(tap, value);
    }

    /** Builds a resolver for what an older version of one of the records wrote. */
    _update(resolver: Resolver, writer: Branch, resolverOptions: never): void {
      for (const [index, branch] of this.types.entries()) {
        if (branch.name !== writer.name) continue;
        const own = branch.createResolver(writer, resolverOptions) as unknown as Resolver;
        resolver._read = (tap) => withTag(own._read(tap) as Tagged, index);
        return;
      }
    }
  })(schema, options);
  for (const [index, branch] of union.types.entries()) indexes.set(tagOf(branch), index);
  return union;

  function withTag(value: Tagged, index: number): Tagged {
    if (indexes.get(value.type) === index) return value;
    throw new RangeError("the type of a record is not that of its position in the union");
  }
}

function tagOf(branch: Branch): unknown {
  const field = branch.fields?.find(({ name }) => name === "type");
  if (field === undefined) throw new TypeError("a record of a union has no field `type`");
  return field.defaultValue();
}
