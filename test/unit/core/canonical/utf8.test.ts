import { describe, expect, it } from "vitest";
import {
  decodeUtf8,
  firstInvalidByte,
  utf8Length,
} from "../../../../services/core/canonical/utf8.ts";

const INVALID: readonly (readonly [string, readonly number[], number])[] = [
  ["a continuation byte alone", [0x61, 0x80], 1],
  ["a sequence cut short", [0xe2, 0x82], 0],
  ["an overlong slash", [0xc0, 0xaf], 0],
  ["an overlong slash of three bytes", [0xe0, 0x80, 0xaf], 0],
  ["an overlong slash of four bytes", [0xf0, 0x80, 0x80, 0xaf], 0],
  ["a surrogate", [0x61, 0xed, 0xa0, 0x80], 1],
  ["a code point beyond Unicode", [0xf4, 0x90, 0x80, 0x80], 0],
  ["a lead byte that does not exist", [0xf5, 0x80, 0x80, 0x80], 0],
  ["a wrong third byte", [0xc3, 0xa9, 0xe2, 0x82, 0x41], 2],
];

describe("decodeUtf8", () => {
  it.each(INVALID)("refuses %s", (_name, bytes, at) => {
    expect(decodeUtf8(Uint8Array.from(bytes))).toBeUndefined();
    expect(firstInvalidByte(Uint8Array.from(bytes))).toBe(at);
  });

  it("keeps a byte order mark, which the grammar then refuses", () => {
    expect(decodeUtf8(Uint8Array.from([0xef, 0xbb, 0xbf, 0x31]))).toBe("\ufeff1");
  });

  it("agrees with the search for the first invalid byte on the edges of every row", () => {
    const edges = [
      ...[0, 0x7f, 0x80, 0x7ff, 0x800, 0xfff, 0x1000, 0xcfff, 0xd000, 0xd7ff, 0xe000, 0xffff],
      ...[0x1_0000, 0x3_ffff, 0x4_0000, 0xf_ffff, 0x10_0000, 0x10_ffff],
    ];
    for (const point of edges) {
      const bytes = new TextEncoder().encode(String.fromCodePoint(point));
      expect(firstInvalidByte(bytes)).toBe(bytes.length);
      expect(decodeUtf8(bytes)).toBe(String.fromCodePoint(point));
    }
  });
});

describe("utf8Length", () => {
  it("counts the bytes of the whole text or of its first units", () => {
    const text = "a\u00e9\u20ac\ud83d\ude00";
    expect(utf8Length(text)).toBe(Buffer.byteLength(text));
    expect([0, 1, 2, 3, 5].map((units) => utf8Length(text, units))).toEqual([0, 1, 3, 6, 10]);
  });

  it.each([0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x1_0000, 0x1_03ff, 0x10_ffff])(
    "counts U+%s, at an edge of a length, as it is encoded",
    (point) => {
      const text = String.fromCodePoint(point);
      expect(utf8Length(text)).toBe(Buffer.byteLength(text));
    },
  );
});
