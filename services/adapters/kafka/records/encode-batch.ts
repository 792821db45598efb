/**
 * Encodes a record batch (magic 2) into one buffer. The sizes are measured first, then every byte
 * is written once, in place. https://kafka.apache.org/documentation/#recordbatch
 */
import { crc32c } from "./checksum.ts";

type Bytes = string | Uint8Array | null;

export type BatchRecord = {
  readonly key?: Bytes | undefined;
  readonly value: Bytes;
  /** A header with several values is written once for each value. */
  readonly headers?: Readonly<Record<string, Bytes | readonly Bytes[]>> | undefined;
};

export type BatchSettings = {
  readonly transactional: boolean;
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly firstSequence: number;
  readonly timestampMs: number;
};

type Header = { readonly name: string; readonly value: Bytes; readonly nameBytes: number };

const HEADER_BYTES = 61;
const CRC_FROM = 21;
const MAGIC = 2;
const TRANSACTIONAL = 16;
const SHORT_BYTES = 48;
const NO_HEADERS: readonly Header[] = [];

/** Sizes and headers of records, measured before the buffer is allocated. */
export type MeasuredBatch = {
  readonly records: readonly BatchRecord[];
  readonly bytes: number;
  /** Length of each record without its own length field. */
  readonly bodies: Int32Array;
  readonly headers: readonly (readonly Header[])[];
};

export function measureBatch(records: readonly BatchRecord[]): MeasuredBatch {
  const bodies = new Int32Array(records.length);
  const headers: (readonly Header[])[] = [];
  let bytes = HEADER_BYTES;
  for (let index = 0; index < records.length; index += 1) {
    const record = records[index] as BatchRecord;
    const list = headersOf(record.headers);
    headers.push(list);
    const body = bodySize(record, list, index);
    bodies[index] = body;
    bytes += varintSize(body) + body;
  }
  return { records, bytes, bodies, headers };
}

/** Writes the batch at `at`; returns the position behind it. */
export function writeBatch(
  into: Buffer,
  at: number,
  batch: MeasuredBatch,
  settings: BatchSettings,
): number {
  const { records } = batch;
  into.writeBigInt64BE(0n, at);
  into.writeInt32BE(batch.bytes - 12, at + 8);
  into.writeInt32BE(0, at + 12);
  into[at + 16] = MAGIC;
  into.writeInt16BE(settings.transactional ? TRANSACTIONAL : 0, at + CRC_FROM);
  into.writeInt32BE(records.length - 1, at + 23);
  const timestamp = BigInt(settings.timestampMs);
  into.writeBigInt64BE(timestamp, at + 27);
  into.writeBigInt64BE(timestamp, at + 35);
  into.writeBigInt64BE(settings.producerId, at + 43);
  into.writeInt16BE(settings.producerEpoch, at + 51);
  into.writeInt32BE(settings.firstSequence, at + 53);
  into.writeInt32BE(records.length, at + 57);
  let end = at + HEADER_BYTES;
  for (let index = 0; index < records.length; index += 1) {
    end = writeVarint(into, end, batch.bodies[index] as number);
    end = writeBody(into, end, batch, index);
  }
  into.writeUInt32BE(crc32c(into.subarray(at + CRC_FROM, end)), at + 17);
  return end;
}

function writeBody(into: Buffer, at: number, batch: MeasuredBatch, index: number): number {
  const { key, value } = batch.records[index] as BatchRecord;
  const headers = batch.headers[index] as readonly Header[];
  into[at] = 0;
  // The delta to the batch's time is 0: the gate's topics take the broker's time anyway.
  into[at + 1] = 0;
  let end = writeVarint(into, at + 2, index);
  end = writeBytes(into, end, key ?? null);
  end = writeBytes(into, end, value);
  end = writeVarint(into, end, headers.length);
  for (const header of headers) {
    end = writeVarint(into, end, header.nameBytes);
    end += into.write(header.name, end, "utf8");
    end = writeBytes(into, end, header.value);
  }
  return end;
}

function bodySize(record: BatchRecord, headers: readonly Header[], index: number): number {
  let size = 2 + varintSize(index) + bytesSize(record.key ?? null) + bytesSize(record.value);
  size += varintSize(headers.length);
  for (const { nameBytes, value } of headers) {
    size += varintSize(nameBytes) + nameBytes + bytesSize(value);
  }
  return size;
}

function headersOf(headers: BatchRecord["headers"]): readonly Header[] {
  if (headers === undefined) return NO_HEADERS;
  const list: Header[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const nameBytes = Buffer.byteLength(name);
    const values = Array.isArray(value) ? (value as readonly Bytes[]) : [value as Bytes];
    for (const one of values) list.push({ name, nameBytes, value: one });
  }
  return list;
}

function bytesSize(bytes: Bytes): number {
  if (bytes === null) return 1;
  const size = typeof bytes === "string" ? Buffer.byteLength(bytes) : bytes.length;
  return varintSize(size) + size;
}

function writeBytes(into: Buffer, at: number, bytes: Bytes): number {
  if (bytes === null) return writeVarint(into, at, -1);
  if (typeof bytes === "string") {
    const size = Buffer.byteLength(bytes);
    const from = writeVarint(into, at, size);
    into.write(bytes, from, "utf8");
    return from + size;
  }
  const from = writeVarint(into, at, bytes.length);
  if (bytes.length > SHORT_BYTES) {
    into.set(bytes, from);
  } else {
    // For short bytes, such as keys, a loop is faster than a call of `set`.
    for (let index = 0; index < bytes.length; index += 1)
      into[from + index] = bytes[index] as number;
  }
  return from + bytes.length;
}

/** Number of bytes of a zigzag varint of 32 bits. */
function varintSize(value: number): number {
  const bits = 32 - Math.clz32((value << 1) ^ (value >> 31));
  return bits === 0 ? 1 : Math.ceil(bits / 7);
}

function writeVarint(into: Buffer, at: number, value: number): number {
  let rest = ((value << 1) ^ (value >> 31)) >>> 0;
  let end = at;
  while (rest > 0x7f) {
    into[end] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
    end += 1;
  }
  into[end] = rest;
  return end + 1;
}
