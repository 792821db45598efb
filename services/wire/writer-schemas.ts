/**
 * What the codec needs of a schema registry: the schemas that others wrote with, by the registry's
 * ids. An adapter implements it.
 */
import type { Type } from "avsc";
import { RetryableError } from "../runtime/errors.ts";
import { compileAvro } from "./avro-types.ts";
import { WIRE_FORMAT } from "./framing.ts";
import { type Reader, UndecodableError } from "./reader.ts";
import type { AvroSchema, SchemaName } from "./schema-files.ts";

/** What the registry says of an id: its schema, or why no schema of that id can be read. */
export type SchemaLookup =
  | { readonly type: "schema"; readonly schema: unknown }
  | { readonly type: "none"; readonly why: string };

export interface WriterSchemas {
  /** Undefined where `fetch` must be awaited first. Has no effects. */
  lookUp(id: number): SchemaLookup | undefined;
  /** Whether the stored answer may still be used; false: `fetch` first. */
  isFresh(id: number): boolean;
  /**
   * Resolves when the answer for the id is stored, also where the registry does not have the id.
   * @throws RetryableError `schema_unavailable`
   */
  fetch(id: number): Promise<void>;
}

/** Settings for writing and reading in the wire format. */
export type WireFormat = {
  /** Schema ids that our own records are written with. */
  readonly ids: Readonly<Record<SchemaName, number>>;
  readonly schemas: WriterSchemas;
};

/**
 * Names of records match without their namespaces, as in Avro's specification since 1.12. A new
 * object for each use: the library keeps resolvers in it.
 */
const resolution = () => ({ ignoreNamespaces: true });

/** The readers of one of our types for writer schemas by id; each is built once. */
export class WireReaders {
  readonly #name: SchemaName;
  readonly #type: Type;
  readonly #schemas: WriterSchemas;
  readonly #readers = new Map<number, Reader>();
  readonly #unreadable = new Map<number, string>();
  #lastId = -1;
  #last: Reader | undefined;

  constructor(name: SchemaName, type: Type, schemas: WriterSchemas) {
    this.#name = name;
    this.#type = type;
    this.#schemas = schemas;
  }

  /**
   * @throws UndecodableError where nothing written with that schema can be read; RetryableError
   *   where the id was never fetched.
   */
  of(id: number): Reader {
    if (id === this.#lastId && this.#last !== undefined) return this.#last;
    const reader = this.#readers.get(id) ?? this.#resolve(id);
    this.#lastId = id;
    this.#last = reader;
    return reader;
  }

  #resolve(id: number): Reader {
    const unreadable = this.#unreadable.get(id);
    if (unreadable !== undefined) throw new UndecodableError(unreadable);
    const lookup = this.#schemas.lookUp(id);
    if (lookup === undefined) {
      throw new RetryableError("schema_unavailable", `schema ${id} was not fetched yet`);
    }
    if (lookup.type === "none") throw new UndecodableError(`schema id ${id}: ${lookup.why}`);
    try {
      const writer = compileAvro(lookup.schema as AvroSchema);
      const resolver = this.#type.createResolver(writer, resolution());
      const reader: Reader = { prefixLength: WIRE_FORMAT.prefixLength, resolver };
      this.#readers.set(id, reader);
      return reader;
    } catch (cause) {
      const text = cause instanceof Error ? cause.message : String(cause);
      const why = `a record written with schema id ${id} cannot be read as ${this.#name}: ${text}`;
      this.#unreadable.set(id, why);
      throw new UndecodableError(why);
    }
  }
}

/**
 * Why a reader with one of our schemas cannot read what the schema in a text wrote; undefined: it
 * can.
 */
export function readProblem(reader: unknown, writerText: string): string | undefined {
  try {
    const writer = compileAvro(JSON.parse(writerText) as AvroSchema);
    compileAvro(reader as AvroSchema).createResolver(writer, resolution());
    return undefined;
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
}
