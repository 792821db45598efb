/**
 * Reads how much a compressed frame can hold from the headers of its blocks, so that its output is
 * limited before it is decompressed. The packages have no limit of their own.
 */

/** `bytes` from 0 to `end` are one frame, which holds at most `bytesMax` bytes. */
export type FrameSize = { readonly end: number; readonly bytesMax: number };

const LZ4_MAGIC = 0x184d2204;
const LZ4_HAS_BLOCK_CHECKSUMS = 16;
const LZ4_HAS_SIZE = 8;
const LZ4_HAS_CHECKSUM = 4;
const LZ4_HAS_DICTIONARY = 1;
const LZ4_STORED = 0x80000000;

/**
 * https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md
 * @throws RangeError where the bytes are no whole frame.
 */
export function measureLz4(bytes: Buffer): FrameSize {
  if (bytes.readUInt32LE(0) !== LZ4_MAGIC) throw new RangeError("no LZ4 frame");
  const flags = bytes.readUInt8(4);
  const has = (flag: number): boolean => (flags & flag) !== 0;
  if (has(LZ4_HAS_DICTIONARY)) throw new RangeError("an LZ4 frame with a dictionary");
  const blockBytes = 2 ** (8 + 2 * ((bytes.readUInt8(5) >> 4) & 7));
  const checksumBytes = has(LZ4_HAS_BLOCK_CHECKSUMS) ? 4 : 0;
  let bytesMax = 0;
  for (let at = 7 + (has(LZ4_HAS_SIZE) ? 8 : 0); ; ) {
    const header = bytes.readUInt32LE(at);
    at += 4;
    if (header === 0) return { end: at + (has(LZ4_HAS_CHECKSUM) ? 4 : 0), bytesMax };
    const size = header & ~LZ4_STORED;
    bytesMax += header >= LZ4_STORED ? size : blockBytes;
    at += size + checksumBytes;
  }
}

const ZSTD_MAGIC = 0xfd2fb528;
const ZSTD_IS_SINGLE_SEGMENT = 32;
const ZSTD_HAS_CHECKSUM = 4;
const ZSTD_BLOCK_BYTES_MAX = 128 * 1024;
const ZSTD_DICTIONARY = 3;
const ZSTD_RUN = 1;
const ZSTD_COMPRESSED = 2;

export type ZstdFrameSize = FrameSize & {
  /** Where the frame's header ends. */
  readonly blocksFrom: number;
  /** True: the frame ends with a checksum. */
  readonly hasChecksum: boolean;
};

/** RFC 8878, section 3.1.1. @throws RangeError where the bytes are no whole frame. */
export function measureZstd(bytes: Buffer): ZstdFrameSize {
  const { blocksFrom, hasChecksum } = readZstdHeader(bytes);
  let bytesMax = 0;
  let isLast = false;
  let at = blocksFrom;
  while (!isLast) {
    const header = bytes.readUIntLE(at, 3);
    const type = (header >> 1) & 3;
    const size = header >> 3;
    bytesMax += type === ZSTD_COMPRESSED ? ZSTD_BLOCK_BYTES_MAX : size;
    at += 3 + (type === ZSTD_RUN ? 1 : size);
    isLast = (header & 1) !== 0;
  }
  const end = at + (hasChecksum ? 4 : 0);
  if (end > bytes.length) throw new RangeError("a zstd frame is cut off");
  return { end, bytesMax, blocksFrom, hasChecksum };
}

function readZstdHeader(bytes: Buffer): Pick<ZstdFrameSize, "blocksFrom" | "hasChecksum"> {
  if (bytes.readUInt32LE(0) !== ZSTD_MAGIC) throw new RangeError("no zstd frame");
  const flags = bytes.readUInt8(4);
  if ((flags & ZSTD_DICTIONARY) !== 0) throw new RangeError("a zstd frame with a dictionary");
  const isSingle = (flags & ZSTD_IS_SINGLE_SEGMENT) !== 0;
  const sizeFlag = flags >> 6;
  const sizeBytes = sizeFlag === 0 ? Number(isSingle) : 2 ** sizeFlag;
  const blocksFrom = 5 + (isSingle ? 0 : 1) + sizeBytes;
  return { blocksFrom, hasChecksum: (flags & ZSTD_HAS_CHECKSUM) !== 0 };
}
