/** The output of a decompressor: a buffer that grows, and to which parts of itself are appended. */
export class UnpackedBytes {
  readonly #bytesMax: number;
  #bytes: Buffer;
  #length = 0;

  constructor(expectedBytes: number, bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#bytes = Buffer.allocUnsafe(Math.min(expectedBytes, bytesMax));
  }

  append(bytes: Buffer, from: number, to: number): void {
    this.#reserve(to - from);
    bytes.copy(this.#bytes, this.#length, from, to);
    this.#length += to - from;
  }

  /** Appends `length` bytes from `distance` bytes back. The two areas may overlap. */
  repeat(distance: number, length: number): void {
    const from = this.#length - distance;
    if (distance === 0 || from < 0) throw new RangeError("a match before the beginning");
    this.#reserve(length);
    const bytes = this.#bytes;
    if (distance >= length) bytes.copyWithin(this.#length, from, from + length);
    else for (let at = 0; at < length; at += 1) bytes[this.#length + at] = bytes[from + at] ?? 0;
    this.#length += length;
  }

  taken(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed > this.#bytesMax) throw new RangeError(`more than ${this.#bytesMax} bytes`);
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.min(Math.max(needed, needed * 2), this.#bytesMax));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
