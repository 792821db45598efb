/** Decompresses record batches. The codec numbers are the protocol's. */
import * as zlib from "node:zlib";
import { Decompress } from "fzstd";
import { FatalError } from "../../../runtime/errors.ts";
import { unpackLz4 } from "./unpack-lz4.ts";
import { unpackSnappy } from "./unpack-snappy.ts";

type Unpack = (bytes: Buffer, bytesMax: number) => Buffer;

/** Size limit of a decompressed batch, against decompression bombs. */
const BYTES_MAX = 256 * 1024 * 1024;

const gzip: Unpack = (bytes, bytesMax) =>
  zlib.gunzipSync(bytes, {
    finishFlush: zlib.constants.Z_SYNC_FLUSH,
    maxOutputLength: bytesMax,
  });

/** Node has zstd since 22.15 only, and the gate runs on Node 20. */
const zstd: Unpack = (bytes, bytesMax) => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const stream = new Decompress((chunk) => {
    length += chunk.length;
    if (length > bytesMax) throw new RangeError(`more than ${bytesMax} bytes`);
    chunks.push(chunk);
  });
  stream.push(bytes, true);
  return Buffer.concat(chunks, length);
};

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
