/** Decompresses record batches. The codec numbers are the protocol's. */
import * as zlib from "node:zlib";
import { Decompress } from "fzstd";
import { FatalError } from "../../../runtime/errors.ts";
import { unpackLz4 } from "./unpack-lz4.ts";
import { unpackSnappy } from "./unpack-snappy.ts";
import { measureZstd, type ZstdFrame } from "./zstd-frame.ts";

type Unpack = (bytes: Buffer, bytesMax: number) => Buffer;

/** Size limit of a decompressed batch, against decompression bombs. */
const BYTES_MAX = 256 * 1024 * 1024;

const gzip: Unpack = (bytes, bytesMax) =>
  zlib.gunzipSync(bytes, {
    finishFlush: zlib.constants.Z_SYNC_FLUSH,
    maxOutputLength: bytesMax,
  });

/**
 * Node has zstd since 22.15 only, and the gate runs on Node 20. Each frame gets a header with a
 * window that is no larger than its content: the package allocates the window, and a writer may
 * state gigabytes.
 */
const zstd: Unpack = (bytes, bytesMax) => {
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let at = 0; at < bytes.length; ) {
    const frame = measureZstd(bytes.subarray(at));
    assertLimit(frame.bytesMax, bytesMax);
    const blocks = bytes.subarray(at + frame.blocksFrom, at + frame.end);
    const stream = new Decompress((part) => {
      length += part.length;
      assertLimit(length, bytesMax);
      parts.push(part);
    });
    stream.push(Buffer.concat([zstdHeader(frame), blocks]), true);
    at += frame.end;
  }
  return Buffer.concat(parts);
};

const WINDOW_LOG_MIN = 10;
const HAS_CHECKSUM = 4;

function zstdHeader({ bytesMax, hasChecksum }: ZstdFrame): Buffer {
  const windowLog = Math.max(WINDOW_LOG_MIN, Math.ceil(Math.log2(Math.max(bytesMax, 1))));
  const descriptor = (windowLog - WINDOW_LOG_MIN) << 3;
  return Buffer.from([0x28, 0xb5, 0x2f, 0xfd, hasChecksum ? HAS_CHECKSUM : 0, descriptor]);
}

function assertLimit(bytes: number, bytesMax: number): void {
  if (bytes > bytesMax) throw new RangeError(`more than ${bytesMax} bytes`);
}

const CODECS: readonly { readonly name: string; readonly unpack: Unpack }[] = [
  { name: "none", unpack: (bytes) => bytes },
  { name: "gzip", unpack: gzip },
  { name: "snappy", unpack: unpackSnappy },
  { name: "lz4", unpack: unpackLz4 },
  { name: "zstd", unpack: zstd },
];

/**
 * @throws FatalError `log_unreadable` for an unsupported codec; `log_corrupt` for invalid bytes, and
 *   for more than `bytesMax` bytes.
 */
export function decompress(codec: number, bytes: Buffer, bytesMax = BYTES_MAX): Buffer {
  const entry = CODECS[codec];
  if (entry === undefined) {
    const text = `records are compressed with the unknown codec ${codec}`;
    const remedy = "let producers use zstd, lz4, snappy, gzip or none";
    throw new FatalError("log_unreadable", `${text}: ${remedy}`);
  }
  try {
    return entry.unpack(bytes, bytesMax);
  } catch (cause) {
    const text = `a record batch with ${entry.name} compression cannot be decompressed`;
    throw new FatalError("log_corrupt", `${text}: ${messageOf(cause)}`, { cause });
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
