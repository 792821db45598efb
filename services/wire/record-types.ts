/**
 * Compiles the schemas, and converts between a value and framed bytes. Knows Avro and framing; the
 * files that map records know what the values mean.
 */
import { isDeepStrictEqual } from "node:util";
import type { Type } from "avsc";
import { FatalError } from "../runtime/errors.ts";
import { compileAvro, withTextField } from "./avro-types.ts";
import { schemaFingerprint } from "./fingerprint.ts";
import { SINGLE_OBJECT, singleObjectPrefix, WIRE_FORMAT, wireId, wirePrefix } from "./framing.ts";
import { readJsonRecord } from "./json-record.ts";
import { type Reader, RegistryNeededError, type Resolver, UndecodableError } from "./reader.ts";
import {
  type AvroSchema,
  SCHEMA_NAMES,
  type SchemaFiles,
  type SchemaName,
} from "./schema-files.ts";
import { type WireFormat, WireReaders } from "./writer-schemas.ts";

/** How to read what the schema of one fingerprint wrote. */
type FingerprintReader = Reader & { readonly low: number; readonly high: number };

const LOW_AT = SINGLE_OBJECT.prefixLength - 8;
const HIGH_AT = SINGLE_OBJECT.prefixLength - 4;

/** Records are written side by side into chunks; each returned record is a view of one. */
const CHUNK_BYTES = 64 * 1024;

/** The current chunk, which all schemas of a codec share. */
class ByteArena {
  private chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  private at = 0;

  /**
   * Calls `fill` to write from an offset on. `fill` returns the end, or minus the number of bytes
   * that it lacked.
   */
  write(fill: (chunk: Buffer, at: number) => number): Buffer {
    let end = fill(this.chunk, this.at);
    while (end < 0) {
      const neededBytes = this.chunk.length - this.at - end;
      this.chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, neededBytes));
      this.at = 0;
      end = fill(this.chunk, 0);
    }
    const bytes = this.chunk.subarray(this.at, end);
    this.at = end;
    return bytes;
  }
}

/** One schema: writes the current version, reads every released one. */
class RecordType {
  readonly schemaName: SchemaName;
  private readonly schema: AvroSchema;
  private readonly type: Type;
  /** The prefix of each record that says which schema wrote it. */
  readonly prefix: Buffer;
  private readonly readers: readonly FingerprintReader[];
  private readonly wireReaders: WireReaders | undefined;
  private readonly arena: ByteArena;

  constructor(parts: {
    readonly name: SchemaName;
    readonly schema: AvroSchema;
    readonly older: readonly AvroSchema[];
    readonly arena: ByteArena;
    /** A bytes field that is handled as text. */
    readonly textField?: string;
    readonly wire: WireFormat | undefined;
  }) {
    const { name, schema, older, arena, textField, wire } = parts;
    this.schemaName = name;
    this.schema = schema;
    this.arena = arena;
    this.type = compileAvro(textField === undefined ? schema : withTextField(schema, textField));
    const current = schemaFingerprint(textField === undefined ? this.type : compileAvro(schema));
    this.prefix = wire === undefined ? singleObjectPrefix(current) : wirePrefix(wire.ids[name]);
    this.wireReaders =
      wire === undefined ? undefined : new WireReaders(name, this.type, wire.schemas);
    this.readers = [reader(current, undefined), ...this.olderReaders(older, schema, current)];
  }

  private olderReaders(
    older: readonly AvroSchema[],
    present: AvroSchema,
    current: Uint8Array,
  ): FingerprintReader[] {
    return older
      .filter((schema) => !isDeepStrictEqual(schema, present))
      .map((schema) => compileAvro(schema))
      .map((writer) => ({ writer, fingerprint: schemaFingerprint(writer) }))
      .filter(({ fingerprint }) => !Buffer.from(fingerprint).equals(current))
      .map(({ writer, fingerprint }) => reader(fingerprint, this.type.createResolver(writer)));
  }

  /**
   * Framed bytes of a value, as a view of memory that is not written again.
   *
   * @throws FatalError that names the field, where the value does not fit the schema.
   */
  encode(value: object): Buffer {
    try {
      return this.arena.write((chunk, at) => this.fill(value, chunk, at));
    } catch (cause) {
      throw new FatalError("unexpected", this.complaint(value), { cause });
    }
  }

  private fill(value: object, chunk: Buffer, at: number): number {
    const body = at + this.prefix.length;
    if (body > chunk.length) return chunk.length - body;
    this.prefix.copy(chunk, at);
    return this.type.encode(value, chunk, body);
  }

  private complaint(value: object): string {
    const wrong: string[] = [];
    this.type.isValid(value, {
      errorHook: (path: readonly string[]) => wrong.push(path.join(".")),
    });
    return `cannot write a ${this.schemaName} record: wrong value in ${wrong.join(", ")}`;
  }

  /**
   * The value in framed bytes, in the current schema's form.
   *
   * @throws UndecodableError; RetryableError where its schema must be fetched first.
   */
  decode(bytes: Uint8Array): unknown {
    const buffer = asBuffer(bytes);
    const { prefixLength, resolver } = this.readerOf(buffer);
    const { value, offset } = this.read(buffer, prefixLength, resolver);
    if (offset < 0) throw new UndecodableError(`the ${this.schemaName} record is cut short`);
    if (offset !== buffer.length) {
      const rest = buffer.length - offset;
      throw new UndecodableError(`${rest} bytes follow the ${this.schemaName} record`);
    }
    return value;
  }

  /** Like `decode`, for a value as plain JSON. @throws UndecodableError */
  decodeJson(text: Uint8Array): unknown {
    return readJsonRecord(this.schema, text);
  }

  /**
   * Offset of the body of a record that the current schema wrote in our own framing; -1: another
   * schema or framing did.
   */
  bodyOf(buffer: Buffer): number {
    const { prefix } = this;
    for (let at = 0; at < prefix.length; at += 1) {
      if (buffer[at] !== prefix[at]) return -1;
    }
    return prefix.length;
  }

  private readerOf(buffer: Buffer): Reader {
    if (this.wireReaders !== undefined && WIRE_FORMAT.matches(buffer)) {
      const id = wireId(buffer);
      if (id === undefined) throw new UndecodableError("cut short in its schema id");
      return this.wireReaders.of(id);
    }
    if (!SINGLE_OBJECT.matches(buffer) || buffer.length < SINGLE_OBJECT.prefixLength) {
      throw this.unframed(buffer);
    }
    const low = buffer.readUInt32LE(LOW_AT);
    const high = buffer.readUInt32LE(HIGH_AT);
    for (const each of this.readers) {
      if (each.low === low && each.high === high) return each;
    }
    const fingerprint = buffer.toString("hex", LOW_AT, SINGLE_OBJECT.prefixLength);
    throw new UndecodableError(
      `schema fingerprint ${fingerprint} is no version of ${this.schemaName}: write with a released schema`,
    );
  }

  private unframed(buffer: Buffer): UndecodableError {
    const { expected } = SINGLE_OBJECT;
    if (this.wireReaders !== undefined) {
      return new UndecodableError(`not ${WIRE_FORMAT.expected}, nor ${expected}`);
    }
    if (!WIRE_FORMAT.matches(buffer)) return new UndecodableError(`not ${expected}`);
    const advice = "it seems to need a schema registry: set `registry.url`";
    return new RegistryNeededError(`not ${expected}: ${advice}`);
  }

  private read(
    buffer: Buffer,
    from: number,
    resolver: Resolver | undefined,
  ): { value: unknown; offset: number } {
    try {
      return this.type.decode(buffer, from, resolver);
    } catch (cause) {
      const text = cause instanceof Error ? cause.message : String(cause);
      throw new UndecodableError(`the ${this.schemaName} record is damaged: ${text}`);
    }
  }
}

/** The same bytes as the class that the library reads. */
export function asBuffer(bytes: Uint8Array): Buffer {
  if (Buffer.isBuffer(bytes)) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function reader(fingerprint: Uint8Array, resolver: Resolver | undefined): FingerprintReader {
  const bytes = asBuffer(fingerprint);
  const { prefixLength } = SINGLE_OBJECT;
  return { low: bytes.readUInt32LE(0), high: bytes.readUInt32LE(4), prefixLength, resolver };
}

export type RecordTypes = {
  readonly [name in SchemaName]: RecordType;
} & {
  /** Proposals with their arguments as text. */
  readonly proposedText: RecordType;
};

/**
 * Compiles every schema. They share one arena, so that a codec writes from one thread. With `wire`
 * they write in the wire format and read it too; without it they know single-object encoding only.
 */
export function compileRecordTypes(files: SchemaFiles, wire?: WireFormat): RecordTypes {
  const arena = new ByteArena();
  const build = (name: SchemaName, textField?: string) =>
    new RecordType({
      name,
      schema: files.current[name],
      older: files.released.filter((each) => each.name === name).map((each) => each.schema),
      arena,
      wire,
      ...(textField === undefined ? {} : { textField }),
    });
  const types = Object.fromEntries(SCHEMA_NAMES.map((name) => [name, build(name)]));
  const proposedText = build("proposed-call", "arguments");
  return { ...types, proposedText } as RecordTypes;
}
