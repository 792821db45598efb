/** Decompresses Snappy, plain or in the blocks of the Java client. */
import { uncompress } from "snappyjs";

const BLOCKS_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]);
const BLOCKS_HEADER_BYTES = 16;

/** @throws Error where the bytes are not Snappy, or the output exceeds `bytesMax`. */
export function unpackSnappy(bytes: Buffer, bytesMax: number): Buffer {
  if (!bytes.subarray(0, BLOCKS_MAGIC.length).equals(BLOCKS_MAGIC)) {
    return uncompress(bytes, bytesMax);
  }
  const blocks: Buffer[] = [];
  let length = 0;
  for (let at = BLOCKS_HEADER_BYTES; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) throw new RangeError("a Snappy block is cut off");
    const block = uncompress(bytes.subarray(at + 4, end), bytesMax - length);
    blocks.push(block);
    length += block.length;
    at = end;
  }
  return Buffer.concat(blocks, length);
}
