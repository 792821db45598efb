import { ByteWriter } from "./byte-writer.ts";
import {
  LARGE,
  NO_VOCABULARY,
  SMALL_LIST,
  SMALL_LIST_COUNT,
  SMALL_REFERENCE,
  SMALL_REFERENCE_COUNT,
  SMALL_WHOLE,
  SMALL_WHOLE_COUNT,
  TAG,
  TIME_MAX,
  type Vocabulary,
} from "./format.ts";
import { formOf, partsOf } from "./text-form.ts";

/**
 * The value as bytes; see format.ts. As in JSON, members without a value are left out, and in lists
 * they are null, as are numbers that are not finite.
 * @param vocabulary what need not be written, since the reader has it too
 */
export function packValue(value: unknown, vocabulary: Vocabulary = NO_VOCABULARY): Uint8Array {
  const packer = new Packer(vocabulary);
  packer.value(value);
  return packer.writer.written;
}

const HALF_PAIR = /\p{Surrogate}/u;

class Packer {
  readonly writer = new ByteWriter();
  readonly #texts: Map<string, number>;
  readonly #vocabulary: Vocabulary;
  readonly #shapes = new Shape();
  #shapeCount: number;
  readonly #largeNumbers = new Map<number, number>();
  #lastLarge = 0;

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
    this.#shapeCount = vocabulary.shapes.length;
    this.#texts = new Map(vocabulary.textNumbers);
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
    else if (value >= LARGE || value <= -LARGE) this.#repeatable(value);
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

  #repeatable(value: number): void {
    const number = this.#largeNumbers.get(value);
    if (number !== undefined) {
      this.#tagged(TAG.repeated, number);
      return;
    }
    this.#largeNumbers.set(value, this.#largeNumbers.size);
    this.#large(value);
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
      this.#newText(text);
      this.#texts.set(text, this.#texts.size);
      return;
    }
    const distance = this.#texts.size - 1 - number;
    if (distance < SMALL_REFERENCE_COUNT) this.writer.byte(SMALL_REFERENCE + distance);
    else this.#tagged(TAG.reference, distance);
  }

  #newText(text: string): void {
    const { writer } = this;
    const form = formOf(text);
    if (form === "ascii") {
      writer.byte(TAG.text);
      writer.ascii(text);
    } else if (form === "hex") {
      writer.byte(TAG.hex);
      writer.hex(text);
    } else if (HALF_PAIR.test(text)) {
      writer.byte(TAG.literal);
      writer.text(JSON.stringify(text));
    } else if (form === "joined") {
      const parts = partsOf(text);
      this.#tagged(TAG.joined, parts.length);
      for (const part of parts) this.#text(part);
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

  /** Members are written in the order of their names, however the record was built. */
  #record(record: object): void {
    const members = record as { readonly [name: string]: unknown };
    const shape = this.#shapeOf(members);
    const sorted = shape.sortedFrom(this.#shapes);
    const { names } = sorted;
    sorted.number ??= this.#vocabulary.shapeNumbers.get(names.join(" ")) ?? null;
    if (sorted.number === null) {
      sorted.number = this.#shapeCount;
      this.#shapeCount += 1;
      this.#tagged(TAG.record, names.length);
      for (const name of names) this.#text(name);
    } else {
      this.#tagged(TAG.shaped, sorted.number);
    }
    for (const name of names) this.value(members[name]);
  }

  /** Members without a value are none. */
  #shapeOf(members: { readonly [name: string]: unknown }): Shape {
    let shape = this.#shapes;
    for (const name of Object.keys(members)) {
      if (members[name] !== undefined) shape = shape.after(name);
    }
    return shape;
  }
}

/** The names of a record's members in the order in which it was built, as a path from no names. */
class Shape {
  /** Of a shape in the order of names that was written, or that the reader has. */
  number: number | null = null;
  readonly #name: string;
  readonly #before: Shape | null;
  /** Most shapes go on in one way. */
  #next: Shape | null = null;
  #others: Map<string, Shape> | null = null;
  #sorted: Shape | null = null;
  #names: readonly string[] | null = null;

  constructor(name = "", before: Shape | null = null) {
    this.#name = name;
    this.#before = before;
  }

  after(name: string): Shape {
    const next = this.#next;
    if (next !== null && next.#name === name) return next;
    const existing = this.#others?.get(name);
    if (existing !== undefined) return existing;
    const longer = new Shape(name, this);
    if (next === null) this.#next = longer;
    else {
      this.#others ??= new Map();
      this.#others.set(name, longer);
    }
    return longer;
  }

  /** The shape of the same names in their order. @param root the shape without names */
  sortedFrom(root: Shape): Shape {
    this.#sorted ??= this.names.toSorted().reduce((shape, name) => shape.after(name), root);
    return this.#sorted;
  }

  get names(): readonly string[] {
    if (this.#names === null) {
      const names: string[] = [];
      for (let at: Shape = this; at.#before !== null; at = at.#before) names.push(at.#name);
      this.#names = names.reverse();
    }
    return this.#names;
  }
}
