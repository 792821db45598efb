import { describe, expect, test } from "vitest";
import { createAvroCodec } from "../../../services/wire/codec.ts";
import { wireId, wirePrefix } from "../../../services/wire/framing.ts";
import {
  type AvroSchema,
  readSchemaFiles,
  SCHEMA_NAMES,
  type SchemaName,
} from "../../../services/wire/schema-files.ts";
import type { SchemaLookup, WriterSchemas } from "../../../services/wire/writer-schemas.ts";
import { GOLDEN_RECORDS } from "../../support/wire/golden-records.ts";
import { SAMPLE_RESULT, SAMPLE_SECRETS } from "../../support/wire/samples.ts";
import { withRecord } from "../../support/wire/schema-walk.ts";

const files = readSchemaFiles();
const FIRST_ID = 0x01020304;
const OTHERS_ID = 7;

function idOf(name: SchemaName): number {
  return FIRST_ID + SCHEMA_NAMES.indexOf(name);
}

/** A registry whose schemas are all loaded. */
function knowing(others: Readonly<Record<number, SchemaLookup>>): WriterSchemas {
  const own = SCHEMA_NAMES.map((name): [number, SchemaLookup] => [
    idOf(name),
    { type: "schema", schema: files.current[name] },
  ]);
  const schemasById = new Map([
    ...own,
    ...Object.entries(others).map(([id, one]) => [Number(id), one] as const),
  ]);
  return {
    lookUp: (id) => schemasById.get(id),
    isFresh: (id) => schemasById.has(id),
    fetch: () => Promise.resolve(),
  };
}

const ids = Object.fromEntries(SCHEMA_NAMES.map((name) => [name, idOf(name)])) as Record<
  SchemaName,
  number
>;
const codecKnowing = (others: Readonly<Record<number, SchemaLookup>> = {}) =>
  createAvroCodec({
    secrets: SAMPLE_SECRETS,
    schemas: files,
    wire: { ids, schemas: knowing(others) },
  });

const wired = codecKnowing();
const plain = createAvroCodec({ secrets: SAMPLE_SECRETS, schemas: files });

/** A result of a writer whose schema has one more field than ours, at the start. */
function resultWith(
  type: AvroSchema,
  body: string,
): { readonly bytes: Buffer; readonly schema: AvroSchema } {
  const schema = withRecord(files.current.result, "CallResult", (record) => ({
    ...record,
    fields: [{ name: "theirs", type }, ...record.fields],
  }));
  const ours = Buffer.from(plain.encodeResult(SAMPLE_RESULT)).subarray(10);
  return { bytes: Buffer.concat([wirePrefix(OTHERS_ID), Buffer.from(body, "hex"), ours]), schema };
}

describe("the wire format of a registry", () => {
  test("is a zero byte and the id, high byte first", () => {
    const bytes = Buffer.from(wired.encodeResult(SAMPLE_RESULT));
    expect(bytes.toString("hex", 0, 5)).toBe("0001020305");
    expect(wireId(bytes)).toBe(idOf("result"));
    expect(bytes.subarray(5)).toEqual(Buffer.from(plain.encodeResult(SAMPLE_RESULT)).subarray(10));
  });

  test.each([-1, 0.5, 2 ** 31, Number.NaN])("has no room for the id %s", (id) => {
    expect(() => wirePrefix(id)).toThrow(/31 bits/);
  });

  test.each([0, 1, 2 ** 31 - 1])("has room for the id %s", (id) => {
    expect(wireId(wirePrefix(id))).toBe(id);
  });

  test("is distinguished from anything else", () => {
    expect(wireId(Buffer.from("0000000001", "hex"))).toBe(1);
    expect(wireId(Buffer.from("00ffffffff", "hex"))).toBe(2 ** 32 - 1);
    expect(wireId(Buffer.from("00000000", "hex"))).toBeUndefined();
    expect(wireId(Buffer.from("c301000000", "hex"))).toBeUndefined();
    expect(wireId(Buffer.alloc(0))).toBeUndefined();
  });

  test.each(GOLDEN_RECORDS)("encodes and decodes $file", ({ write, read, value }) => {
    const bytes = Buffer.from(write(wired));
    expect(bytes[0]).toBe(0);
    expect(read(wired, bytes)).toMatchObject(value);
    expect(read(wired, write(plain))).toMatchObject(value);
  });

  test("is refused by a codec without a registry", () => {
    expect(plain.decodeInput("results", wired.encodeResult(SAMPLE_RESULT))).toEqual({
      ok: false,
      message: expect.stringContaining("seems to need a schema registry"),
    });
    expect(plain.pending?.(wired.encodeResult(SAMPLE_RESULT))).toBeNull();
  });

  test("gives a message, not a crash, where a record is cut anywhere", () => {
    const bytes = wired.encodeResult(SAMPLE_RESULT);
    for (let end = 1; end < bytes.length; end += 1) {
      expect(wired.decodeInput("results", bytes.subarray(0, end))).toMatchObject({ ok: false });
    }
  });

  test("waits only for an id that is not loaded", () => {
    const unknown = Buffer.concat([wirePrefix(99), Buffer.alloc(4)]);
    expect(wired.pending?.(unknown)).toBeInstanceOf(Promise);
    for (const value of [
      null,
      Buffer.alloc(0),
      Buffer.alloc(3),
      Buffer.from("{}"),
      wirePrefix(idOf("result")),
    ]) {
      expect(wired.pending?.(value)).toBeNull();
    }
    expect(() => wired.decodeInput("results", unknown)).toThrow(/was not fetched/);
  });
});

describe("a field that only the writer has", () => {
  const array: AvroSchema = { type: "array", items: "long" };
  const map = { type: "map", values: "long" } as unknown as AvroSchema;
  const read = ({ bytes, schema }: ReturnType<typeof resultWith>) =>
    codecKnowing({ [OTHERS_ID]: { type: "schema", schema } }).decodeInput("results", bytes);

  test.each([
    ["text", "string" as AvroSchema, "06616263"],
    ["a list", array, "04020400"],
    ["a list in a block of known size", array, "0304020400"],
    ["no list", array, "00"],
    ["a map", map, "0202610200"],
    ["a map in a block of known size", map, "010602610200"],
  ])("is skipped: %s", (_, type, body) => {
    expect(read(resultWith(type, body))).toEqual({ ok: true, input: SAMPLE_RESULT });
  });

  test.each([
    ["a list", array, "feffffffffffff07"],
    ["a list in a block", array, "03feffffffffffff07"],
    ["a list in a block of less than nothing", array, "030300"],
    ["a map", map, "feffffffffffff07"],
    ["a map in a block of less than nothing", map, "030300"],
  ])("is refused for its length: %s", (_, type, body) => {
    expect(read(resultWith(type, body))).toMatchObject({
      ok: false,
      message: expect.stringContaining("damaged"),
    });
  });
});
