/**
 * Reads from the headers of a zstd frame's blocks how much it can hold, so that its output is
 * limited before it is decompressed: the package has no limit of its own.
 */

const MAGIC = 0xfd2fb528;
const IS_SINGLE_SEGMENT = 32;
const HAS_CHECKSUM = 4;
const BLOCK_BYTES_MAX = 128 * 1024;
const DICTIONARY = 3;
const RUN = 1;
const COMPRESSED = 2;

/** `bytes` from 0 to `end` are one frame, which holds at most `bytesMax` bytes. */
export type ZstdFrame = {
  readonly end: number;
  readonly bytesMax: number;
  /** Where the frame's header ends. */
  readonly blocksFrom: number;
  /** True: the frame ends with a checksum. */
  readonly hasChecksum: boolean;
};

/** RFC 8878, section 3.1.1. @throws RangeError where the bytes are no whole frame. */
export function measureZstd(bytes: Buffer): ZstdFrame {
  const { blocksFrom, hasChecksum } = readZstdHeader(bytes);
  let bytesMax = 0;
  let isLast = false;
  let at = blocksFrom;
  while (!isLast) {
    const header = bytes.readUIntLE(at, 3);
    const type = (header >> 1) & 3;
    const size = header >> 3;
    bytesMax += type === COMPRESSED ? BLOCK_BYTES_MAX : size;
    at += 3 + (type === RUN ? 1 : size);
    isLast = (header & 1) !== 0;
  }
  const end = at + (hasChecksum ? 4 : 0);
  if (end > bytes.length) throw new RangeError("a zstd frame is cut off");
  return { end, bytesMax, blocksFrom, hasChecksum };
}

function readZstdHeader(bytes: Buffer): Pick<ZstdFrame, "blocksFrom" | "hasChecksum"> {
  if (bytes.readUInt32LE(0) !== MAGIC) throw new RangeError("no zstd frame");
  const flags = bytes.readUInt8(4);
  if ((flags & DICTIONARY) !== 0) throw new RangeError("a zstd frame with a dictionary");
  const isSingle = (flags & IS_SINGLE_SEGMENT) !== 0;
  const sizeFlag = flags >> 6;
  const sizeBytes = sizeFlag === 0 ? Number(isSingle) : 2 ** sizeFlag;
  const blocksFrom = 5 + (isSingle ? 0 : 1) + sizeBytes;
  return { blocksFrom, hasChecksum: (flags & HAS_CHECKSUM) !== 0 };
}
