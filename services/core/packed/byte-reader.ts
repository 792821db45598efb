import { decodeUtf8 } from "../canonical/utf8.ts";

/** Reads what ByteWriter wrote. Every method throws a RangeError where the bytes end too early. */
const SHORT_TEXT = 128;
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
    const count = this.varint();
    const text = count > SHORT_TEXT ? undefined : this.#ascii(count);
    return text ?? decoded(this.#take(count));
  }

  hex(): string {
    const count = this.varint();
    if (count > SHORT_TEXT) return Array.from(this.#take(count), hexOf).join("");
    this.#need(count);
    const codes = new Array<number>(2 * count);
    for (let at = 0; at < count; at += 1) {
      const byte = this.#bytes[this.#at + at] as number;
      codes[2 * at] = digitCode(byte >> 4);
      codes[2 * at + 1] = digitCode(byte & 0xf);
    }
    this.#at += count;
    return String.fromCharCode.apply(null, codes);
  }

  /**
   * Undefined where there is more than ASCII. Made at once: a text that is put together stays in its parts, which
   * take many times its memory.
   */
  #ascii(count: number): string | undefined {
    this.#need(count);
    const codes = new Array<number>(count);
    for (let at = 0; at < count; at += 1) {
      const byte = this.#bytes[this.#at + at] as number;
      if (byte > ASCII_MAX) return undefined;
      codes[at] = byte;
    }
    this.#at += count;
    return String.fromCharCode.apply(null, codes);
  }

  #need(count: number): void {
    if (count > this.left) throw new RangeError("the bytes end too early");
  }

  #take(count: number): Uint8Array {
    this.#need(count);
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
