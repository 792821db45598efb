/**
 * Puts down records field by field, for those that are written for each call: no object in the form of the schema
 * is made of a value first. What is unusual it does not write but tells, and the library writes the record then, or
 * says what is wrong with it.
 */
import { isWellFormed } from "../core/canonical/utf8.ts";
import { EXACT_MAX } from "./avro-types.ts";

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

/** Records stand side by side in chunks; what is handed out is a view of one. */
const CHUNK_BYTES = 64 * 1024;
/** With less than this left a record begins a new chunk. */
const ROOM_BYTES = 4 * 1024;

/** Below this the letters of a text are put down sooner than a call would (measured: 45 ns against 60). */
const SHORT_TEXT = 32;
/** Below this the length of a text takes two bytes. */
const MIDDLE_TEXT = 8_192;
const ASCII_MAX = 0x7f;
const UTF8_UNIT_MAX = 3;
const LENGTH_BYTES_MAX = 5;

/** Below this a number and its zigzag form are small integers. */
const SMALL = 2 ** 30;
/** Four groups of seven bits. */
const LOW_BITS = 2 ** 28;

/** Of a union whose first branch is null: which branch, as a zigzag number. */
const NULL = 0;
const PRESENT = 2;

/** What `write` calls, without its questions about encoding and range. */
type Utf8Buffer = Buffer & { utf8Write(text: string, from: number, bytesMax: number): number };

export class FlatWriter {
  private chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES) as Utf8Buffer;
  private from = 0;
  private at = 0;
  private isOdd = false;
  private marked: object | undefined;
  private markedFrom = 0;
  private markedTo = 0;

  /** Begins a record. One that was begun before and not ended is forgotten. */
  begin(prefix: Uint8Array): void {
    if (this.chunk.length - this.from < ROOM_BYTES) {
      this.chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES) as Utf8Buffer;
      this.from = 0;
      this.marked = undefined;
    }
    // What was marked in a record that came to nothing is written over now.
    if (this.markedTo > this.from) this.marked = undefined;
    this.isOdd = false;
    this.at = this.from;
    for (let index = 0; index < prefix.length; index += 1) this.byte(prefix[index] as number);
  }

  /** The record, in memory that is not written again; undefined where the library has to write it. */
  end(): Buffer | undefined {
    const { chunk, from, at } = this;
    if (this.isOdd || at > chunk.length) return undefined;
    this.from = at;
    return chunk.subarray(from, at);
  }

  /** Something is not as in most records. */
  odd(): void {
    this.isOdd = true;
  }

  /** Where the next field goes, for `mark`. */
  get place(): number {
    return this.at;
  }

  /** What was put down since `from` stands for `what`, for as long as nothing else is marked. */
  mark(what: object, from: number): void {
    this.marked = what;
    this.markedFrom = from;
    this.markedTo = this.at;
  }

  /** Puts down once more what stands for `what`; false where that is not at hand. */
  again(what: object): boolean {
    const { chunk, at, marked, markedFrom, markedTo } = this;
    const end = at + markedTo - markedFrom;
    if (marked !== what || end > chunk.length) return false;
    chunk.copyWithin(at, markedFrom, markedTo);
    this.at = end;
    return true;
  }

  /** Absent, so many times in a row; also an array without items, `false`, and zero. */
  nothing(times = 1): void {
    for (let index = 0; index < times; index += 1) this.byte(NULL);
  }

  /** What follows is there, in a place where it might be null. */
  present(): void {
    this.byte(PRESENT);
  }

  /** Puts down whether a value is there, in a place where it might be null. */
  isThere<T>(value: T | null): value is T {
    this.byte(value === null ? NULL : PRESENT);
    return value !== null;
  }

  bool(value: boolean): void {
    if (typeof value !== "boolean") this.isOdd = true;
    this.byte(value ? 1 : 0);
  }

  /** Number of the items that follow; `nothing` comes after them. */
  count(items: number): void {
    if (items > 0) this.long(items);
  }

  /** A whole number from 0 on; others are odd. Also an `int`, where it is known to be small. */
  long(value: number): void {
    if (value >= 0 && value < SMALL && (value | 0) === value) this.varint(value << 1);
    else if (Number.isInteger(value) && value > 0 && value <= EXACT_MAX) this.bigLong(value);
    else this.isOdd = true;
  }

  /** A count: one that does not look like it is odd. */
  int(value: number): void {
    if (value >= 0 && value < SMALL && (value | 0) === value) this.varint(value << 1);
    else this.isOdd = true;
  }

  nullableLong(value: number | null): void {
    if (!this.isThere(value)) return;
    this.long(value);
  }

  nullableText(text: string | null): void {
    if (!this.isThere(text)) return;
    this.text(text);
  }

  /** Null where it is what was said already. */
  textUnless(text: string, said: string): void {
    this.nullableText(text === said ? null : text);
  }

  texts(texts: readonly string[]): void {
    this.count(texts.length);
    for (const text of texts) this.text(text);
    this.nothing();
  }

  nullableTexts(texts: readonly string[] | null): void {
    if (!this.isThere(texts)) return;
    this.texts(texts);
  }

  text(text: string): void {
    if (typeof text !== "string") {
      this.isOdd = true;
      return;
    }
    const { chunk, at } = this;
    const { length } = text;
    // Lengths are zigzag numbers, seven bits a byte.
    const coded = 2 * length;
    const from = at + (coded > ASCII_MAX ? 2 : 1);
    if (length >= SHORT_TEXT) {
      this.middleText(text, from);
      return;
    }
    if (from + length > chunk.length) {
      this.longText(text);
      return;
    }
    for (let index = 0; index < length; index += 1) {
      const unit = charCodeAt.call(text, index);
      if (unit > ASCII_MAX) {
        this.longText(text);
        return;
      }
      chunk[from + index] = unit;
    }
    if (coded > ASCII_MAX) {
      chunk[at] = (coded & ASCII_MAX) | 0x80;
      chunk[at + 1] = coded >> 7;
    } else {
      chunk[at] = coded;
    }
    this.at = from + length;
  }

  /** As many bytes as units: then it is ASCII, and its length was known before. */
  private middleText(text: string, from: number): void {
    const { chunk, at } = this;
    const { length } = text;
    const room = UTF8_UNIT_MAX * length;
    const isFit = length < MIDDLE_TEXT && from + room <= chunk.length;
    if (!isFit || chunk.utf8Write(text, from, room) !== length) {
      this.longText(text);
      return;
    }
    const coded = 2 * length;
    chunk[at] = coded > ASCII_MAX ? (coded & ASCII_MAX) | 0x80 : coded;
    if (coded > ASCII_MAX) chunk[at + 1] = coded >> 7;
    this.at = from + length;
  }

  private longText(text: string): void {
    const { chunk, at } = this;
    const bytesMax = UTF8_UNIT_MAX * text.length;
    // What the library makes of half a surrogate pair is its own.
    if (at + LENGTH_BYTES_MAX + bytesMax > chunk.length || !isWellFormed(text)) {
      this.isOdd = true;
      return;
    }
    const bytes = Buffer.byteLength(text);
    this.varint(bytes * 2);
    this.at += chunk.write(text, this.at, bytes, "utf8");
  }

  private varint(zigzag: number): void {
    let rest = zigzag;
    while (rest > ASCII_MAX) {
      this.byte((rest & ASCII_MAX) | 0x80);
      rest >>>= 7;
    }
    this.byte(rest);
  }

  /** In two parts, so that the arithmetic is that of small integers. */
  private bigLong(value: number): void {
    const zigzag = value * 2;
    const high = Math.floor(zigzag / LOW_BITS);
    const low = zigzag - high * LOW_BITS;
    this.byte((low & ASCII_MAX) | 0x80);
    this.byte(((low >>> 7) & ASCII_MAX) | 0x80);
    this.byte(((low >>> 14) & ASCII_MAX) | 0x80);
    this.byte((low >>> 21) | 0x80);
    this.varint(high);
  }

  /** Beyond the chunk nothing is put down; `end` tells. */
  private byte(value: number): void {
    this.chunk[this.at] = value;
    this.at += 1;
  }
}
