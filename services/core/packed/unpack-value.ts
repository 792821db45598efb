import type { JsonValue } from "../canonical/json-value.ts";
import { ByteReader } from "./byte-reader.ts";
import {
  NO_VOCABULARY,
  SMALL_LIST,
  SMALL_REFERENCE,
  SMALL_WHOLE,
  TAG,
  type Vocabulary,
} from "./format.ts";

/** @throws Error where the bytes are not those of `packValue` with the same texts and shapes. */
export function unpackValue(bytes: Uint8Array, vocabulary: Vocabulary = NO_VOCABULARY): JsonValue {
  const unpacker = new Unpacker(bytes, vocabulary);
  const value = unpacker.value();
  if (!unpacker.reader.isAtEnd) throw new RangeError("bytes follow the value");
  return value;
}

class Unpacker {
  readonly reader: ByteReader;
  readonly #texts: string[];
  readonly #shapes: (readonly string[])[];
  readonly #largeNumbers: number[] = [];
  #lastLarge = 0;

  constructor(bytes: Uint8Array, { texts, shapes }: Vocabulary) {
    this.reader = new ByteReader(bytes);
    this.#texts = [...texts];
    this.#shapes = [...shapes];
  }

  value(): JsonValue {
    const tag = this.reader.byte();
    if (tag >= SMALL_REFERENCE) return this.#reference(tag - SMALL_REFERENCE);
    if (tag >= SMALL_LIST) return this.#list(tag - SMALL_LIST);
    if (tag >= SMALL_WHOLE) return tag - SMALL_WHOLE;
    return this.#tagged(tag);
  }

  #tagged(tag: number): JsonValue {
    const { reader } = this;
    switch (tag) {
      case TAG.null:
        return null;
      case TAG.false:
        return false;
      case TAG.true:
        return true;
      case TAG.whole:
        return reader.varint();
      case TAG.negative:
        return -reader.varint();
      case TAG.large:
        return this.#large();
      case TAG.repeated:
        return earlier(this.#largeNumbers, reader.varint());
      case TAG.float:
        return this.#float();
      case TAG.list:
        return this.#list(reader.varint());
      case TAG.record:
        return this.#record(this.#newShape());
      case TAG.shaped:
        return this.#record(earlier(this.#shapes, reader.varint()));
      default:
        return this.#text(tag);
    }
  }

  #large(): number {
    const zigzag = this.reader.varint();
    this.#lastLarge += zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
    this.#largeNumbers.push(this.#lastLarge);
    return this.#lastLarge;
  }

  #float(): number {
    const value = this.reader.float();
    if (Number.isSafeInteger(value)) this.#largeNumbers.push(value);
    return value;
  }

  #text(tag: number): string {
    if (tag === TAG.reference) return this.#reference(this.reader.varint());
    const text = this.#newText(tag);
    this.#texts.push(text);
    return text;
  }

  #newText(tag: number): string {
    switch (tag) {
      case TAG.text:
        return this.reader.text();
      case TAG.hex:
        return this.reader.hex();
      case TAG.literal:
        return String(JSON.parse(this.reader.text()));
      case TAG.joined:
        return this.#joined(this.reader.varint());
      default:
        throw new RangeError(`there is no tag ${tag}`);
    }
  }

  #joined(count: number): string {
    const parts: string[] = [];
    for (let at = 0; at < count; at += 1) {
      const part = this.value();
      if (typeof part !== "string") throw new RangeError("a part of a text is none");
      parts.push(part);
    }
    return parts.join("");
  }

  #reference(distance: number): string {
    return earlier(this.#texts, this.#texts.length - 1 - distance);
  }

  #list(length: number): JsonValue[] {
    if (length > this.reader.left) throw new RangeError("a list is longer than its bytes");
    // Of its size from the start: a list that grows has room for 17 items at least.
    const items = new Array<JsonValue>(length);
    for (let at = 0; at < length; at += 1) items[at] = this.value();
    return items;
  }

  #newShape(): readonly string[] {
    const names = this.#list(this.reader.varint()).map(String);
    this.#shapes.push(names);
    return names;
  }

  #record(names: readonly string[]): JsonValue {
    const record: { [name: string]: JsonValue } = {};
    for (const name of names) {
      const value = this.value();
      // Assigned, this name would set the prototype.
      if (name === "__proto__") Object.defineProperty(record, name, { value, ...PLAIN });
      else record[name] = value;
    }
    return record;
  }
}

const PLAIN = { enumerable: true, configurable: true, writable: true };

function earlier<T>(values: readonly T[], number: number): T {
  const value = values[number];
  if (value === undefined) throw new RangeError(`there is no value ${number} yet`);
  return value;
}
