import * as zlib from "node:zlib";
import { expect, it } from "vitest";
import { decompress } from "../../../../services/adapters/kafka/records/decompress.ts";

const [GZIP, SNAPPY, LZ4, ZSTD] = [1, 2, 3, 4];
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

const LZ4_FRAME = hex("04224d18 60 40 82 0a000000 56 6162636465 0500 10 7a 00000000");

it("decompresses an LZ4 match that overlaps its output", () => {
  expect(decompress(LZ4, LZ4_FRAME).toString()).toBe("abcdeabcdeabcdez");
});

// Written by `zstd`.
const ZSTD_FRAME = hex("28b52ffd04586d00003061626364657a01004050450b922f8cf7");
const ZSTD_ZEROS = hex("28b52ffd04684d0000080001009c86391002db234ef3");

it("decompresses zstd, several frames too", () => {
  const text = `${"abcde".repeat(40)}z`;
  expect(decompress(ZSTD, ZSTD_FRAME).toString()).toBe(text);
  expect(decompress(ZSTD, Buffer.concat([ZSTD_FRAME, ZSTD_FRAME])).toString()).toBe(text.repeat(2));
});

it("decompresses a zstd frame that states a window of 128 MiB", () => {
  const frame = Buffer.from(
    "KLUv/QSI/QAAkoEFC+Dpw/V9gwGBwcoCsDCmLEfLwna0HAEA3Ew1l6o2XIM=",
    "base64",
  );
  expect(decompress(ZSTD, frame).toString()).toBe(`${"again and again ".repeat(40)}at the end`);
});

it("refuses a zstd bomb by the headers of its blocks, and one with a dictionary", () => {
  // 200 runs of a byte, of 2 MB each.
  const run = (isLast: boolean): Buffer => {
    const block = Buffer.alloc(4);
    block.writeUIntLE((2_000_000 << 3) | 2 | Number(isLast), 0, 3);
    return block;
  };
  const runs = Array.from({ length: 200 }, (_, index) => run(index === 199));
  const bomb = Buffer.concat([hex("28b52ffd0058"), ...runs]);
  expect(() => decompress(ZSTD, bomb)).toThrow(/more than 268435456 bytes/);
  expect(() => decompress(ZSTD, hex("28b52ffd015807010000"))).toThrow(/dictionary/);
});

it("refuses more output than the limit, whatever the codec", () => {
  const limit = /more than 8 bytes|too big|Cannot create a Buffer larger/;
  expect(() => decompress(GZIP, zlib.gzipSync("123456789"), 8)).toThrow(limit);
  expect(() => decompress(SNAPPY, SNAPPY_BLOCK, 8)).toThrow(limit);
  expect(() => decompress(LZ4, LZ4_FRAME, 8)).toThrow(limit);
  expect(() => decompress(ZSTD, ZSTD_ZEROS, 8)).toThrow(limit);
});

it("refuses truncated and invalid bytes, whatever the codec", () => {
  const all = [SNAPPY_BLOCK, LZ4_FRAME, ZSTD_FRAME];
  for (const [index, whole] of all.entries()) {
    const codec = index + SNAPPY;
    const cut = whole.subarray(0, whole.length / 2);
    expect(() => decompress(codec, cut), `codec ${codec}`).toThrow(/cannot be decompressed/);
    expect(() => decompress(codec, Buffer.from("what is this"))).toThrow(/cannot be decompressed/);
  }
  // A truncated gzip stream gives what it has, as in Kafka's own clients; its records are incomplete then.
  expect(() => decompress(GZIP, Buffer.from("what is this"))).toThrow(/cannot be decompressed/);
  expect(() => decompress(SNAPPY, hex("08 0d 05"))).toThrow(/cannot be decompressed/);
});

it("says what to do about an unsupported codec", () => {
  expect(() => decompress(UNKNOWN, Buffer.alloc(1))).toThrow(/codec 7.*let producers use/);
});
