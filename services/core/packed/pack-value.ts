import { ByteWriter } from "./byte-writer.ts";
import {
  HEX_DIGITS_MIN,
  LARGE,
  SMALL_LIST,
  SMALL_LIST_COUNT,
  SMALL_REFERENCE,
  SMALL_REFERENCE_COUNT,
  SMALL_WHOLE,
  SMALL_WHOLE_COUNT,
  TAG,
  TIME_MAX,
} from "./format.ts";

/**
 * The value as bytes; see format.ts. As in JSON, members without a value are left out, and in lists
 * they are null, as are numbers that are not finite.
 * @param words texts that need not be written, since the reader knows them: those that occur most
 *   come first
 */
export function packValue(value: unknown, words: readonly string[] = []): Uint8Array {
  const packer = new Packer(words);
  packer.value(value);
  return packer.writer.written;
}

const HEX = /^(?:[0-9a-f]{2})+$/;
const HALF_PAIR = /\p{Surrogate}/u;

class Packer {
  readonly writer = new ByteWriter();
  readonly #texts: Map<string, number>;
  readonly #shapes = new Shape(0);
  #shapeCount = 0;
  #lastLarge = 0;

  constructor(words: readonly string[]) {
    this.#texts = new Map(words.map((word, at) => [word, at]));
  }

  value(value: unknown): void {
    if (typeof value === "string") this.#text(value);
    else if (typeof value === "number") this.#number(value);
    else if (typeof value === "boolean") this.writer.byte(value ? TAG.true : TAG.false);
    else if (Array.isArray(value)) this.#list(value);
    else if (typeof value === "object" && value !== null) this.#record(value);
    else this.writer.byte(TAG.null);
  }

  #number(value: number): void {
    if (!Number.isSafeInteger(value)) this.#other(value);
    else if (value >= LARGE || value <= -LARGE) this.#large(value);
    else if (value < 0) this.#tagged(TAG.negative, -value);
    else if (value < SMALL_WHOLE_COUNT) this.writer.byte(SMALL_WHOLE + value);
    else this.#tagged(TAG.whole, value);
  }

  #tagged(tag: number, value: number): void {
    this.writer.byte(tag);
    this.writer.varint(value);
  }

  #other(value: number): void {
    this.writer.byte(Number.isFinite(value) ? TAG.float : TAG.null);
    if (Number.isFinite(value)) this.writer.float(value);
  }

  /** What is too far away to be a time has its own bytes. */
  #large(value: number): void {
    const distance = value - this.#lastLarge;
    if (Math.abs(value) > TIME_MAX) {
      this.#other(value);
      return;
    }
    this.#lastLarge = value;
    this.#tagged(TAG.large, distance < 0 ? -2 * distance - 1 : 2 * distance);
  }

  #text(text: string): void {
    const number = this.#texts.get(text);
    if (number === undefined) {
      this.#texts.set(text, this.#texts.size);
      this.#newText(text);
    } else if (number < SMALL_REFERENCE_COUNT) {
      this.writer.byte(SMALL_REFERENCE + number);
    } else {
      this.#tagged(TAG.reference, number);
    }
  }

  #newText(text: string): void {
    const { writer } = this;
    if (text.length >= HEX_DIGITS_MIN && HEX.test(text)) {
      writer.byte(TAG.hex);
      writer.hex(text);
    } else if (HALF_PAIR.test(text)) {
      writer.byte(TAG.literal);
      writer.text(JSON.stringify(text));
    } else {
      writer.byte(TAG.text);
      writer.text(text);
    }
  }

  #list(items: readonly unknown[]): void {
    const { length } = items;
    if (length < SMALL_LIST_COUNT) this.writer.byte(SMALL_LIST + length);
    else this.#tagged(TAG.list, length);
    for (const item of items) this.value(item);
  }

  #record(record: object): void {
    const members = record as { readonly [name: string]: unknown };
    const names = Object.keys(record);
    let shape = this.#shapes;
    for (const name of names) if (members[name] !== undefined) shape = shape.after(name);
    if (shape.number === null) {
      shape.number = this.#shapeCount;
      this.#shapeCount += 1;
      this.#tagged(TAG.record, shape.length);
      for (const name of names) if (members[name] !== undefined) this.#text(name);
    } else {
      this.#tagged(TAG.shaped, shape.number);
    }
    for (const name of names) if (members[name] !== undefined) this.value(members[name]);
  }
}

/** A list of member names, as a path from the empty list. */
class Shape {
  readonly length: number;
  /** Null until a record has these names. */
  number: number | null = null;
  readonly #longer = new Map<string, Shape>();

  constructor(length: number) {
    this.length = length;
  }

  after(name: string): Shape {
    const existing = this.#longer.get(name);
    if (existing !== undefined) return existing;
    const longer = new Shape(this.length + 1);
    this.#longer.set(name, longer);
    return longer;
  }
}
