import { decodeUtf8 } from "../canonical/utf8.ts";

/** Reads what ByteWriter wrote. Every method throws a RangeError where the bytes end too early. */
const SHORT_TEXT = 64;
const ASCII_MAX = 0x7f;
const VARINT_BASE = 0x80;

const CODE_OF_0 = 0x30;
const CODE_OF_A = 0x61;

function digitCode(digit: number): number {
  return digit < 10 ? CODE_OF_0 + digit : CODE_OF_A + digit - 10;
}

function hexOf(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}

function isAscii(byte: number): boolean {
  return byte <= ASCII_MAX;
}

export class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** Bytes that are left: no list has more items. */
  get left(): number {
    return this.#bytes.length - this.#at;
  }

  byte(): number {
    const value = this.#bytes[this.#at];
    if (value === undefined) throw new RangeError("the bytes end too early");
    this.#at += 1;
    return value;
  }

  varint(): number {
    let value = 0;
    for (let unit = 1; ; unit *= VARINT_BASE) {
      const byte = this.byte();
      value += (byte % VARINT_BASE) * unit;
      if (byte < VARINT_BASE) return value;
      if (unit > Number.MAX_SAFE_INTEGER) throw new RangeError("a number is too long");
    }
  }

  float(): number {
    const { buffer, byteOffset } = this.#take(8);
    return new DataView(buffer, byteOffset, 8).getFloat64(0);
  }

  text(): string {
    const bytes = this.#take(this.varint());
    if (bytes.length > SHORT_TEXT) return decoded(bytes);
    // Made at once: a text that is put together stays in its parts, which take many times its memory.
    return bytes.every(isAscii) ? String.fromCharCode(...bytes) : decoded(bytes);
  }

  hex(): string {
    const bytes = this.#take(this.varint());
    if (bytes.length > SHORT_TEXT) return Array.from(bytes, hexOf).join("");
    const codes: number[] = [];
    for (const byte of bytes) codes.push(digitCode(byte >> 4), digitCode(byte & 0xf));
    return String.fromCharCode(...codes);
  }

  #take(count: number): Uint8Array {
    if (count > this.left) throw new RangeError("the bytes end too early");
    const bytes = this.#bytes.subarray(this.#at, this.#at + count);
    this.#at += count;
    return bytes;
  }
}

function decoded(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw new RangeError("a text is not UTF-8");
  return text;
}
