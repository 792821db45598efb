/** The codecs of record batches: the numbers are the protocol's. */
import { constants, gunzipSync } from "node:zlib";
import { FatalError } from "../../runtime/errors.ts";

const CODECS: readonly string[] = ["none", "gzip", "snappy", "lz4", "zstd"];
const GZIP = 1;

/** What a batch may hold: a bomb must not fill the memory. */
const BYTES_MAX = 256 * 1024 * 1024;

/** @throws FatalError `log_unreadable` where the codec is not known here, or the bytes are not its. */
export function decompress(codec: number, bytes: Buffer): Buffer {
  if (codec !== GZIP) {
    const name = CODECS[codec] ?? `number ${codec}`;
    throw new FatalError(
      "log_unreadable",
      `records are compressed with ${name}: let their producers use gzip or none, or set ` +
        "compression.type=gzip on the topic",
    );
  }
  try {
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: BYTES_MAX });
  } catch (cause) {
    throw new FatalError("log_corrupt", "a compressed record batch cannot be unpacked", { cause });
  }
}
