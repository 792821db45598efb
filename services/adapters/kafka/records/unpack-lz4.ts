/** Decompresses LZ4 frames: https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md */
import { UnpackedBytes } from "./unpacked-bytes.ts";

const MAGIC = 0x184d2204;
const HAS_BLOCK_CHECKSUMS = 16;
const HAS_SIZE = 8;
const HAS_DICTIONARY = 1;
const STORED = 0x80000000;
const LENGTH_MORE = 15;
const MATCH_MIN = 4;

/** @throws RangeError where the bytes are no LZ4 frame, or the output exceeds `bytesMax`. */
export function unpackLz4(bytes: Buffer, bytesMax: number): Buffer {
  if (bytes.readUInt32LE(0) !== MAGIC) throw new RangeError("no LZ4 frame");
  const flags = bytes.readUInt8(4);
  if ((flags & HAS_DICTIONARY) !== 0) throw new RangeError("an LZ4 frame with a dictionary");
  const checksumBytes = (flags & HAS_BLOCK_CHECKSUMS) === 0 ? 0 : 4;
  let at = 7 + ((flags & HAS_SIZE) === 0 ? 0 : 8);
  const output = new UnpackedBytes(bytes.length * 3, bytesMax);
  for (;;) {
    const size = bytes.readUInt32LE(at);
    at += 4;
    if (size === 0) return output.taken();
    const end = at + (size & ~STORED);
    if (end > bytes.length) throw new RangeError("an LZ4 block is cut off");
    if (size >= STORED) output.append(bytes, at, end);
    else unpackBlock(bytes, at, end, output);
    at = end + checksumBytes;
  }
}

function unpackBlock(bytes: Buffer, from: number, end: number, output: UnpackedBytes): void {
  let at = from;
  const length = (first: number): number => {
    let total = first;
    if (first < LENGTH_MORE) return total;
    for (let more = 255; more === 255; total += more) {
      more = bytes.readUInt8(at);
      at += 1;
    }
    return total;
  };
  while (at < end) {
    const token = bytes.readUInt8(at);
    at += 1;
    const literals = length(token >> 4);
    if (at + literals > end) throw new RangeError("LZ4 literals are cut off");
    output.append(bytes, at, at + literals);
    at += literals;
    // The last sequence of a block has no match.
    if (at >= end) return;
    const distance = bytes.readUInt16LE(at);
    at += 2;
    output.repeat(distance, length(token & LENGTH_MORE) + MATCH_MIN);
  }
}
