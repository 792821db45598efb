import type { Type } from "avsc";

/** The start value and the polynomial of CRC-64-AVRO, as the Avro specification gives them. */
const EMPTY = 0xc15d213aa4d7a795n;
const BYTE_VALUES = 256;

const TABLE: readonly bigint[] = Array.from({ length: BYTE_VALUES }, (_, byte) => {
  let entry = BigInt(byte);
  for (let bit = 0; bit < 8; bit += 1) {
    entry = (entry >> 1n) ^ (EMPTY & -(entry & 1n));
  }
  return entry;
});

/** CRC-64-AVRO of bytes, as the eight bytes that a record has: least significant first. */
function crc64Avro(bytes: Uint8Array): Uint8Array {
  let crc = EMPTY;
  for (const byte of bytes) {
    crc = (crc >> 8n) ^ (TABLE[Number((crc ^ BigInt(byte)) & 0xffn)] ?? 0n);
  }
  const fingerprint = Buffer.alloc(8);
  fingerprint.writeBigUInt64LE(BigInt.asUintN(64, crc));
  return fingerprint;
}

/** Fingerprint of a schema: CRC-64-AVRO of its Parsing Canonical Form. */
export function schemaFingerprint(type: Type): Uint8Array {
  return crc64Avro(Buffer.from(parsingCanonicalForm(type), "utf8"));
}

/**
 * Parsing Canonical Form of a schema: full names, and only the attributes that the binary form
 * needs, in the order of the specification.
 */
export function parsingCanonicalForm(type: Type): string {
  return JSON.stringify(canonical(JSON.parse(JSON.stringify(type.schema()))));
}

const ORDER = ["name", "type", "fields", "symbols", "items", "values", "size"] as const;

function canonical(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(canonical);
  if (typeof schema !== "object" || schema === null) return schema;
  const attributes = new Map(Object.entries(schema));
  return Object.fromEntries(
    ORDER.filter((key) => attributes.has(key)).map((key) => [key, canonical(attributes.get(key))]),
  );
}
