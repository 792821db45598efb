/**
 * Takes records apart field by field, for those that are read for each call: no object in the form of the schema is
 * made of the bytes first. What is unusual it does not read but tells, and the library reads the record then, or
 * says what is wrong with it.
 */
import { KnownTexts } from "./known-texts.ts";

/** Of a union whose first branch is null: which branch, as a zigzag number. */
const NULL = 0;
const PRESENT = 2;

const LOW = 0x7f;
/** Groups of seven bits in the length of a text: enough for more bytes than a record may have. */
const GROUPS_MAX = 4;

/** What `toString` calls, without its questions about encoding and range. */
type Utf8Buffer = Buffer & { utf8Slice(start: number, end: number): string };

export class FlatReader {
  private bytes = Buffer.alloc(0) as unknown as Utf8Buffer;
  private at = 0;
  private isOdd = false;
  private readonly known = new KnownTexts();

  /** Begins with the first field of a record, which stands at `from`. */
  begin(bytes: Buffer, from: number): void {
    this.bytes = bytes as Utf8Buffer;
    this.at = from;
    this.isOdd = false;
  }

  /** Whether all was as in most records, to the last byte. Where it was not, what was read means nothing. */
  end(): boolean {
    return !this.isOdd && this.at === this.bytes.length;
  }

  /** Steps over fields that are null. */
  nothing(times: number): void {
    for (let index = 0; index < times; index += 1) {
      if (this.byte() !== NULL) this.isOdd = true;
    }
  }

  text(): string {
    const length = this.length();
    const from = this.at;
    const to = from + length;
    if (to > this.bytes.length) this.isOdd = true;
    if (this.isOdd) return "";
    this.at = to;
    return this.bytes.utf8Slice(from, to);
  }

  /** A text that many records have: one and the same string for all of them. */
  commonText(): string {
    const from = this.at;
    const length = this.length();
    const known = this.known.find(this.bytes, this.at, this.at + length);
    if (known === undefined) {
      this.at = from;
      return this.text();
    }
    this.at += length;
    return known;
  }

  nullableText(): string | null {
    return this.isThere() ? this.text() : null;
  }

  nullableCommonText(): string | null {
    return this.isThere() ? this.commonText() : null;
  }

  private isThere(): boolean {
    const branch = this.byte();
    if (branch !== NULL && branch !== PRESENT) this.isOdd = true;
    return branch === PRESENT;
  }

  /** A zigzag number from 0 on, seven bits a byte. */
  private length(): number {
    let zigzag = 0;
    for (let group = 0; group < GROUPS_MAX; group += 1) {
      const byte = this.byte();
      zigzag |= (byte & LOW) << (7 * group);
      if (byte > LOW) continue;
      if ((zigzag & 1) === 0) return zigzag >>> 1;
      break;
    }
    this.isOdd = true;
    return 0;
  }

  /** Beyond the record there is nothing; `end` tells. */
  private byte(): number {
    const byte = this.bytes[this.at];
    this.at += 1;
    return byte ?? NULL;
  }
}
