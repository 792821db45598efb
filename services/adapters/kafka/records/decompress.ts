/** Decompresses record batches. The codec numbers are the protocol's. */
import * as zlib from "node:zlib";
import { FatalError } from "../../../runtime/errors.ts";
import { unpackLz4 } from "./unpack-lz4.ts";
import { unpackSnappy } from "./unpack-snappy.ts";

type Unpack = (bytes: Buffer, bytesMax: number) => Buffer;
type Zstd = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Buffer;

const NAMES: readonly string[] = ["none", "gzip", "snappy", "lz4", "zstd"];

/** Size limit of a decompressed batch, against decompression bombs. */
const BYTES_MAX = 256 * 1024 * 1024;

const gzip: Unpack = (bytes, bytesMax) =>
  zlib.gunzipSync(bytes, {
    finishFlush: zlib.constants.Z_SYNC_FLUSH,
    maxOutputLength: bytesMax,
  });

/** Node has zstd since 22.15. */
const zstdOfNode: unknown = Reflect.get(zlib, "zstdDecompressSync");
const zstd: Unpack | undefined =
  typeof zstdOfNode === "function"
    ? (bytes, maxOutputLength) => (zstdOfNode as Zstd)(bytes, { maxOutputLength })
    : undefined;

const UNPACK: readonly (Unpack | undefined)[] = [undefined, gzip, unpackSnappy, unpackLz4, zstd];

/**
 * @throws FatalError `log_unreadable` for an unsupported codec; `log_corrupt` for invalid bytes.
 */
export function decompress(codec: number, bytes: Buffer): Buffer {
  const name = NAMES[codec] ?? `codec ${codec}`;
  const unpack = UNPACK[codec];
  if (unpack === undefined) {
    throw new FatalError(
      "log_unreadable",
      `records are compressed with ${name}, which needs Node 22.15 or newer: run it, or let ` +
        "producers use lz4, snappy, gzip or none",
    );
  }
  try {
    return unpack(bytes, BYTES_MAX);
  } catch (cause) {
    const text = `a record batch with ${name} compression cannot be decompressed`;
    throw new FatalError("log_corrupt", text, { cause });
  }
}
