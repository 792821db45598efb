import * as zlib from "node:zlib";
import { expect, it } from "vitest";
import { decompress } from "../../../../services/adapters/kafka/records/decompress.ts";
import { unpackLz4 } from "../../../../services/adapters/kafka/records/unpack-lz4.ts";
import { unpackSnappy } from "../../../../services/adapters/kafka/records/unpack-snappy.ts";

const [GZIP, SNAPPY, LZ4] = [1, 2, 3];
const UNKNOWN = 7;
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");

// "abcde", then five bytes from five bytes back, then two literal bytes.
const SNAPPY_BLOCK = hex("0c 10 6162636465 05 05 04 7879");
const SNAPPY_TEXT = "abcdeabcdexy";

it("decompresses gzip", () => {
  expect(decompress(GZIP, zlib.gzipSync("hello hello")).toString()).toBe("hello hello");
});

it("decompresses Snappy, plain and in the Java client's blocks", () => {
  expect(decompress(SNAPPY, SNAPPY_BLOCK).toString()).toBe(SNAPPY_TEXT);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(SNAPPY_BLOCK.length, 0);
  const header = hex("82534e4150505900 00000001 00000001");
  const blocks = Buffer.concat([header, length, SNAPPY_BLOCK, length, SNAPPY_BLOCK]);
  expect(decompress(SNAPPY, blocks).toString()).toBe(SNAPPY_TEXT.repeat(2));
});

it("decompresses an LZ4 match that overlaps its output", () => {
  const block = hex("56 6162636465 0500 10 7a");
  const size = Buffer.alloc(4);
  size.writeUInt32LE(block.length, 0);
  const frame = Buffer.concat([hex("04224d18 60 40 82"), size, block, hex("00000000")]);
  expect(decompress(LZ4, frame).toString()).toBe("abcdeabcdeabcdez");
});

it("refuses output above the limit, a match before the beginning, and truncated bytes", () => {
  expect(() => unpackSnappy(SNAPPY_BLOCK, 8)).toThrow(/more than 8 bytes/);
  expect(() => unpackSnappy(hex("08 0d 05"), 100)).toThrow(/before the beginning/);
  expect(() => unpackSnappy(SNAPPY_BLOCK.subarray(0, 5), 100)).toThrow(RangeError);
  expect(() => unpackLz4(hex("04224d18 60 40 82 ffffff00"), 100)).toThrow(/cut off/);
  expect(() => unpackLz4(Buffer.from("no frame"), 100)).toThrow(/no LZ4 frame/);
});

it("says what to do about an unsupported codec", () => {
  expect(() => decompress(UNKNOWN, Buffer.alloc(1))).toThrow(/codec 7.*let producers use/);
});
