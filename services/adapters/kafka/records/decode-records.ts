/**
 * Decodes the records of a batch one by one, without copying keys and values.
 *
 * CURSOR-1 A batch gives one record for each of its offsets, or throws. Where its reader asks for
 *    it, the offsets from the first unreadable record on give records that say why they cannot be read.
 */
import { FatalError } from "../../../runtime/errors.ts";
import type { LogRecord, RecordHeader } from "../../../runtime/ports.ts";
import { decompress } from "./decompress.ts";
import type { RecordBatch } from "./record-batches.ts";

const NO_HEADERS: readonly RecordHeader[] = [];
const VARINT_BYTES_MAX = 5;
const VARLONG_BYTES_MAX = 10;

/** What becomes of a batch that cannot be read: an error, or records that name the reason. */
export type OnUnreadable = "throw" | "mark";

/** Reads a batch forwards. */
export class RecordCursor {
  readonly #batch: RecordBatch;
  readonly #onUnreadable: OnUnreadable;
  #bytes: Buffer;
  #end: number;
  #at: number;
  #left: number;
  #isOpen: boolean;
  #unreadable: string | undefined;

  constructor(batch: RecordBatch, onUnreadable: OnUnreadable = "throw") {
    this.#batch = batch;
    this.#onUnreadable = onUnreadable;
    this.#left = batch.count;
    this.#bytes = batch.payload;
    this.#at = batch.from;
    this.#end = batch.to;
    this.#isOpen = batch.codec === 0 && batch.problem === null;
  }

  get isDone(): boolean {
    return this.#left === 0;
  }

  /**
   * @throws FatalError `log_corrupt` for truncated or inconsistent bytes, `log_unreadable` for an
   *   unknown codec; neither where the cursor marks unreadable records.
   */
  next(): LogRecord {
    if (this.#unreadable !== undefined) return this.#marked(this.#unreadable);
    try {
      if (!this.#isOpen) this.#unpack();
      return this.#read();
    } catch (error) {
      if (!(error instanceof FatalError) || this.#onUnreadable === "throw") throw error;
      this.#unreadable = error.message;
      return this.#marked(error.message);
    }
  }

  #unpack(): void {
    const { codec, payload, from, to, problem } = this.#batch;
    if (problem !== null) throw problem;
    this.#bytes = decompress(codec, payload.subarray(from, to));
    this.#at = 0;
    this.#end = this.#bytes.length;
    this.#isOpen = true;
  }

  /** The record of the next offset, which the batch's header alone tells. */
  #marked(unreadable: string): LogRecord {
    const { lastOffset, appendTimeMs } = this.#batch;
    this.#left -= 1;
    const offset = lastOffset - this.#left;
    return { offset, appendTimeMs, key: null, value: null, headers: NO_HEADERS, unreadable };
  }

  #read(): LogRecord {
    const end = this.#length() + this.#at;
    if (end > this.#end || this.#left === 0) throw this.#corrupt();
    this.#at += 1;
    this.#skipVarlong();
    const offset = this.#batch.baseOffset + this.#varint();
    // No batch that is read has lost a record (WALK-1).
    if (offset !== this.#batch.lastOffset + 1 - this.#left) throw this.#corrupt();
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
    const text = `the record batch at ${baseOffset} does not match its lengths and offsets`;
    return new FatalError("log_corrupt", text, { context: { offset: baseOffset, count } });
  }
}

function text(bytes: Buffer | null): string {
  return bytes === null ? "" : bytes.toString("utf8");
}
