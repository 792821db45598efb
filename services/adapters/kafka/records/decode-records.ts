/** Decodes the records of a batch one by one, without copying keys and values. */
import { FatalError } from "../../../runtime/errors.ts";
import type { LogRecord, RecordHeader } from "../../../runtime/ports.ts";
import { decompress } from "./decompress.ts";
import type { RecordBatch } from "./record-batches.ts";

const NO_HEADERS: readonly RecordHeader[] = [];
const VARINT_BYTES_MAX = 5;
const VARLONG_BYTES_MAX = 10;

/** Reads a batch forwards. Truncated or inconsistent bytes are a FatalError `log_corrupt`. */
export class RecordCursor {
  readonly #batch: RecordBatch;
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;
  #left: number;

  constructor(batch: RecordBatch) {
    this.#batch = batch;
    this.#left = batch.count;
    if (batch.codec === 0) {
      this.#bytes = batch.payload;
      this.#at = batch.from;
      this.#end = batch.to;
    } else {
      this.#bytes = decompress(batch.codec, batch.payload.subarray(batch.from, batch.to));
      this.#at = 0;
      this.#end = this.#bytes.length;
    }
  }

  get isDone(): boolean {
    return this.#left === 0;
  }

  next(): LogRecord {
    const end = this.#length() + this.#at;
    if (end > this.#end || this.#left === 0) throw this.#corrupt();
    this.#at += 1;
    this.#skipVarlong();
    const offset = this.#batch.baseOffset + this.#varint();
    const key = this.#slice();
    const value = this.#slice();
    const count = this.#varint();
    const headers = count === 0 ? NO_HEADERS : this.#headers(count);
    if (this.#at !== end) throw this.#corrupt();
    this.#left -= 1;
    return { offset, appendTimeMs: this.#batch.appendTimeMs, key, value, headers };
  }

  #headers(count: number): readonly RecordHeader[] {
    const headers: RecordHeader[] = [];
    for (let index = 0; index < count; index += 1) {
      const name = this.#slice();
      const value = this.#slice();
      headers.push({ name: text(name), value: text(value) });
    }
    return headers;
  }

  #slice(): Buffer | null {
    const size = this.#varint();
    if (size < 0) return null;
    const from = this.#at;
    this.#at = from + size;
    if (this.#at > this.#end) throw this.#corrupt();
    return this.#bytes.subarray(from, this.#at);
  }

  #length(): number {
    const size = this.#varint();
    if (size < 0) throw this.#corrupt();
    return size;
  }

  /** A zigzag varint of 32 bits. */
  #varint(): number {
    const bytes = this.#bytes;
    let at = this.#at;
    let byte = bytes[at] ?? 0;
    let value = byte & 0x7f;
    const last = at + VARINT_BYTES_MAX;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      at += 1;
      if (at >= last) throw this.#corrupt();
      byte = bytes[at] ?? 0;
      value |= (byte & 0x7f) << shift;
    }
    this.#at = at + 1;
    return (value >>> 1) ^ -(value & 1);
  }

  /** Skips the record's timestamp: the time of the batch counts. */
  #skipVarlong(): void {
    const last = this.#at + VARLONG_BYTES_MAX;
    while ((this.#bytes[this.#at] ?? 0) >= 0x80) {
      this.#at += 1;
      if (this.#at >= last) throw this.#corrupt();
    }
    this.#at += 1;
  }

  #corrupt(): FatalError {
    const { baseOffset, count } = this.#batch;
    const text = `the record batch at ${baseOffset} is shorter than its lengths say`;
    return new FatalError("log_corrupt", text, { context: { offset: baseOffset, count } });
  }
}

function text(bytes: Buffer | null): string {
  return bytes === null ? "" : bytes.toString("utf8");
}
