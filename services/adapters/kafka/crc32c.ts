/** CRC-32C (Castagnoli), the checksum of a record batch; eight bytes a step. */
const POLYNOMIAL = 0x82f63b78;
const STEP = 8;

const TABLES: readonly Int32Array[] = makeTables();
const [T0, T1, T2, T3, T4, T5, T6, T7] = TABLES as unknown as readonly [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

/** The checksum of the bytes from `start` up to `end`, as an unsigned number. */
export function crc32c(bytes: Uint8Array, start: number, end: number): number {
  let crc = -1;
  let at = start;
  for (const last = end - STEP; at <= last; at += STEP) {
    crc =
      (T7[(crc ^ byte(bytes, at)) & 0xff] as number) ^
      (T6[((crc >>> 8) ^ byte(bytes, at + 1)) & 0xff] as number) ^
      (T5[((crc >>> 16) ^ byte(bytes, at + 2)) & 0xff] as number) ^
      (T4[(crc >>> 24) ^ byte(bytes, at + 3)] as number) ^
      (T3[byte(bytes, at + 4)] as number) ^
      (T2[byte(bytes, at + 5)] as number) ^
      (T1[byte(bytes, at + 6)] as number) ^
      (T0[byte(bytes, at + 7)] as number);
  }
  for (; at < end; at += 1) {
    crc = (crc >>> 8) ^ (T0[(crc ^ byte(bytes, at)) & 0xff] as number);
  }
  return (crc ^ -1) >>> 0;
}

function byte(bytes: Uint8Array, at: number): number {
  return bytes[at] as number;
}

function makeTables(): readonly Int32Array[] {
  const first = new Int32Array(256);
  for (let n = 0; n < 256; n += 1) {
    let crc = n;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = (crc & 1) === 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    }
    first[n] = crc;
  }
  const tables = [first];
  for (let table = 1; table < STEP; table += 1) {
    const before = tables[table - 1] as Int32Array;
    tables.push(before.map((crc) => (crc >>> 8) ^ (first[crc & 0xff] as number)));
  }
  return tables;
}
