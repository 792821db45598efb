/**
 * Encodes records that were appended together as one value of the store, and decodes them.
 *
 * Layout, little endian: magic u16, count u16, CRC-32 of the rest u32, append time f64; then for
 * each record key length i32 (-1: null), value length i32 (-1: null), header count u16, key, value;
 * for each header name length u16, value length u16, name, value.
 */
import { crc32 } from "node:zlib";
import { FatalError, PoisonRecordError } from "../../runtime/errors.ts";
import type { LogRecord, OutgoingRecord, RecordHeader } from "../../runtime/ports.ts";

const MAGIC = 0xca11;
const HEAD_BYTES = 16;
const RECORD_HEAD_BYTES = 10;
const HEADER_FIELD_BYTES_MAX = 0xffff;

export const CHUNK_RECORDS_MAX = 1_000;
/** Size limit of a chunk: for larger values the store must find long runs of free pages. */
export const CHUNK_BYTES_MAX = 262_144;

export type PreparedRecord = {
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: readonly RecordHeader[];
  /** Encoded size of the record. */
  readonly bytes: number;
};

/** @throws PoisonRecordError `too_large` where a header name or value exceeds 65,535 bytes. */
export function prepareRecord(record: OutgoingRecord): PreparedRecord {
  const key = typeof record.key === "string" ? Buffer.from(record.key, "utf8") : record.key;
  const headers = record.headers ?? [];
  let bytes = RECORD_HEAD_BYTES + (key?.length ?? 0) + (record.value?.length ?? 0);
  for (const header of headers) {
    const name = Buffer.byteLength(header.name);
    const value = Buffer.byteLength(header.value);
    if (name > HEADER_FIELD_BYTES_MAX || value > HEADER_FIELD_BYTES_MAX) {
      throw new PoisonRecordError("too_large", "a record header is longer than 65,535 bytes");
    }
    bytes += 4 + name + value;
  }
  return { key, value: record.value, headers, bytes };
}

export function encodeChunk(records: readonly PreparedRecord[], appendTimeMs: number): Buffer {
  let size = HEAD_BYTES;
  for (const record of records) size += record.bytes;
  const chunk = Buffer.allocUnsafe(size);
  chunk.writeUInt16LE(MAGIC, 0);
  chunk.writeUInt16LE(records.length, 2);
  chunk.writeDoubleLE(appendTimeMs, 8);
  let at = HEAD_BYTES;
  for (const record of records) at = writeRecord(chunk, at, record);
  chunk.writeUInt32LE(crc32(chunk.subarray(8)), 4);
  return chunk;
}

function writeRecord(chunk: Buffer, start: number, record: PreparedRecord): number {
  let at = start;
  at = chunk.writeInt32LE(record.key?.length ?? -1, at);
  at = chunk.writeInt32LE(record.value?.length ?? -1, at);
  at = chunk.writeUInt16LE(record.headers.length, at);
  if (record.key !== null) {
    chunk.set(record.key, at);
    at += record.key.length;
  }
  if (record.value !== null) {
    chunk.set(record.value, at);
    at += record.value.length;
  }
  for (const header of record.headers) {
    const nameBytes = chunk.write(header.name, at + 4);
    const valueBytes = chunk.write(header.value, at + 4 + nameBytes);
    chunk.writeUInt16LE(nameBytes, at);
    chunk.writeUInt16LE(valueBytes, at + 2);
    at += 4 + nameBytes + valueBytes;
  }
  return at;
}

/** Reads the number of records and the append time of a chunk without decoding the records. */
export function peekChunk(chunk: Buffer): {
  readonly count: number;
  readonly appendTimeMs: number;
} {
  return { count: chunk.readUInt16LE(2), appendTimeMs: chunk.readDoubleLE(8) };
}

/**
 * Decodes the records of a chunk; they share its memory.
 * @throws FatalError `log_corrupt` where the bytes are damaged.
 */
export function decodeChunk(chunk: Buffer, baseOffset: number): readonly LogRecord[] {
  assertIntact(chunk, baseOffset);
  const { count, appendTimeMs } = peekChunk(chunk);
  const records: LogRecord[] = [];
  let at = HEAD_BYTES;
  for (let i = 0; i < count; i += 1) {
    const keyLength = chunk.readInt32LE(at);
    const valueLength = chunk.readInt32LE(at + 4);
    const headerCount = chunk.readUInt16LE(at + 8);
    at += RECORD_HEAD_BYTES;
    const key = keyLength < 0 ? null : chunk.subarray(at, at + keyLength);
    at += Math.max(keyLength, 0);
    const value = valueLength < 0 ? null : chunk.subarray(at, at + valueLength);
    at += Math.max(valueLength, 0);
    const headers: RecordHeader[] = [];
    for (let h = 0; h < headerCount; h += 1) {
      const nameEnd = at + 4 + chunk.readUInt16LE(at);
      const valueEnd = nameEnd + chunk.readUInt16LE(at + 2);
      headers.push({
        name: chunk.toString("utf8", at + 4, nameEnd),
        value: chunk.toString("utf8", nameEnd, valueEnd),
      });
      at = valueEnd;
    }
    records.push({ offset: baseOffset + i, appendTimeMs, key, value, headers });
  }
  return records;
}

function assertIntact(chunk: Buffer, baseOffset: number): void {
  const intact =
    chunk.length >= HEAD_BYTES &&
    chunk.readUInt16LE(0) === MAGIC &&
    chunk.readUInt32LE(4) === crc32(chunk.subarray(8));
  if (intact) return;
  throw new FatalError(
    "log_corrupt",
    `the records from offset ${baseOffset} on are damaged on disk: restore the data directory ` +
      "from a backup, or move it away to start with an empty one",
  );
}
