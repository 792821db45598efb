/** Bytes that grow. */
const FIRST_BYTES = 2_048;
/** Longer texts are encoded by the platform. */
const SHORT_TEXT = 256;
const VARINT_BASE = 0x80;
/** Below it the operators on bits apply. */
const BITS_MAX = 2 ** 31;

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

// Declared here as the decoder is in utf8.ts.
declare const TextEncoder: new () => { encode(text: string): Uint8Array };

const encoder = new TextEncoder();

export class ByteWriter {
  #bytes = new Uint8Array(FIRST_BYTES);
  #at = 0;

  get written(): Uint8Array {
    return this.#bytes.slice(0, this.#at);
  }

  byte(value: number): void {
    if (this.#at === this.#bytes.length) this.#grow(1);
    this.#bytes[this.#at] = value;
    this.#at += 1;
  }

  /** Seven bits a byte, the lowest first. @param value a whole number of 0 or more */
  varint(value: number): void {
    let rest = value;
    while (rest >= BITS_MAX) {
      this.byte((rest % VARINT_BASE) | VARINT_BASE);
      rest = Math.floor(rest / VARINT_BASE);
    }
    while (rest >= VARINT_BASE) {
      this.byte((rest & (VARINT_BASE - 1)) | VARINT_BASE);
      rest >>>= 7;
    }
    this.byte(rest);
  }

  float(value: number): void {
    this.#room(8);
    new DataView(this.#bytes.buffer).setFloat64(this.#at, value);
    this.#at += 8;
  }

  /** The length in bytes, then the text. */
  text(text: string): void {
    const bytes = encoder.encode(text);
    this.varint(bytes.length);
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** The same of a text that is ASCII. */
  ascii(text: string): void {
    const { length } = text;
    if (length > SHORT_TEXT) {
      this.text(text);
      return;
    }
    this.varint(length);
    this.#room(length);
    const bytes = this.#bytes;
    for (let at = 0; at < length; at += 1) bytes[this.#at + at] = charCodeAt.call(text, at);
    this.#at += length;
  }

  /** Half as many bytes as digits, then the digits. */
  hex(digits: string): void {
    const count = digits.length / 2;
    this.varint(count);
    this.#room(count);
    const bytes = this.#bytes;
    for (let at = 0; at < digits.length; at += 2) {
      const high = digitOf(charCodeAt.call(digits, at));
      bytes[this.#at + at / 2] = high * 16 + digitOf(charCodeAt.call(digits, at + 1));
    }
    this.#at += count;
  }

  #room(count: number): void {
    if (this.#at + count > this.#bytes.length) this.#grow(count);
  }

  #grow(count: number): void {
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#at + count));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

const CODE_0 = 48;
const CODE_9 = 57;
const CODE_A = 97;

function digitOf(code: number): number {
  return code <= CODE_9 ? code - CODE_0 : code - CODE_A + 10;
}
