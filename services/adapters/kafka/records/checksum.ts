import type * as Native from "@node-rs/crc32";
import { loadOptional } from "../../system/optional-package.ts";

type Checksum = (bytes: Uint8Array) => number;

const native = loadOptional<typeof Native>("@node-rs/crc32");

/**
 * CRC-32C, the checksum of a record batch. Computed in JavaScript, which takes about seven times as
 * long, where the native package is not installed.
 */
export const crc32c: Checksum = native.ok
  ? (bytes) => native.loaded.crc32c(bytes)
  : computeChecksum;

/** The polynomial of Castagnoli with its bits reversed. */
const POLYNOMIAL = 0x82f63b78;

let table: Uint32Array | null = null;

/** CRC-32C in JavaScript. */
export function computeChecksum(bytes: Uint8Array): number {
  table ??= createTable();
  let checksum = 0xffffffff;
  for (const byte of bytes) {
    checksum = (table[(checksum ^ byte) & 0xff] as number) ^ (checksum >>> 8);
  }
  return (checksum ^ 0xffffffff) >>> 0;
}

function createTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, index) => {
    let remainder = index;
    for (let bit = 0; bit < 8; bit++) {
      remainder = (remainder & 1) === 0 ? remainder >>> 1 : (remainder >>> 1) ^ POLYNOMIAL;
    }
    return remainder;
  });
}
