/**
 * Decompresses Snappy, plain or in the blocks of the Java client.
 * https://github.com/google/snappy/blob/main/format_description.txt
 */
import { UnpackedBytes } from "./unpacked-bytes.ts";

const BLOCKS_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]);
const BLOCKS_HEADER_BYTES = 16;
/** Tag values from here on: the length of the literal follows the tag, in 1 to 4 bytes. */
const LITERAL_SHORT_MAX = 60;

/** @throws RangeError where the bytes are not Snappy, or the output exceeds `bytesMax`. */
export function unpackSnappy(bytes: Buffer, bytesMax: number): Buffer {
  const output = new UnpackedBytes(bytes.length * 3, bytesMax);
  if (!bytes.subarray(0, BLOCKS_MAGIC.length).equals(BLOCKS_MAGIC)) {
    unpackBlock(bytes, output);
    return output.taken();
  }
  for (let at = BLOCKS_HEADER_BYTES; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) throw new RangeError("a Snappy block is cut off");
    unpackBlock(bytes.subarray(at + 4, end), output);
    at = end;
  }
  return output.taken();
}

function unpackBlock(bytes: Buffer, output: UnpackedBytes): void {
  let at = 0;
  // The block begins with its decompressed length, which is not needed.
  while (bytes.readUInt8(at) >= 0x80) at += 1;
  at += 1;
  output.beginBlock();
  while (at < bytes.length) {
    const tag = bytes.readUInt8(at);
    at += 1;
    if ((tag & 3) === 0) at = copyLiteral(bytes, at, tag >> 2, output);
    else at = copyMatch(bytes, at, tag, output);
  }
}

function copyLiteral(bytes: Buffer, start: number, code: number, output: UnpackedBytes): number {
  let from = start;
  let length = code + 1;
  if (code >= LITERAL_SHORT_MAX) {
    const lengthBytes = code - LITERAL_SHORT_MAX + 1;
    length = bytes.readUIntLE(from, lengthBytes) + 1;
    from += lengthBytes;
  }
  if (from + length > bytes.length) throw new RangeError("a Snappy literal is cut off");
  output.append(bytes, from, from + length);
  return from + length;
}

function copyMatch(bytes: Buffer, at: number, tag: number, output: UnpackedBytes): number {
  if ((tag & 3) === 1) {
    output.repeat(((tag >> 5) << 8) | bytes.readUInt8(at), ((tag >> 2) & 7) + 4);
    return at + 1;
  }
  const length = (tag >> 2) + 1;
  if ((tag & 3) === 2) {
    output.repeat(bytes.readUInt16LE(at), length);
    return at + 2;
  }
  output.repeat(bytes.readUInt32LE(at), length);
  return at + 4;
}
