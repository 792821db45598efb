import { memberValue } from "./fast-reader.ts";
import { isPlain } from "./fast-value.ts";
import type { FastRead, Walk } from "./fast-walk.ts";
import type { JsonValue } from "./json-value.ts";

/**
 * What is read of a member that is an object or an array, and was walked over last. Its value is made when somebody asks for
 * it: what most calls are judged by looks into none of their arguments. As long as the parts are in the reader's table it is
 * made of those, and later of its text.
 */
export class MemberRead implements FastRead {
  readonly ok = true;
  readonly text: string;
  readonly keyCount: number;
  readonly depth: number;
  readonly #walk: Walk;
  readonly #stamp: number;
  #value: JsonValue | undefined;

  /**
   * @param text canonical, its strings not looked into.
   * @throws SyntaxError where it turns out not to be JSON.
   */
  constructor(walk: Walk, text: string, keyCount: number) {
    this.text = text;
    this.keyCount = keyCount;
    // Without the object that it is a member of.
    this.depth = walk.depth - 1;
    this.#walk = walk;
    this.#stamp = walk.stamp;
    // Of a plain text it is known to be JSON; of any other, JSON.parse says.
    this.#value = isPlain(walk.text) ? undefined : (JSON.parse(text) as JsonValue);
  }

  get value(): JsonValue {
    this.#value ??= this.#made();
    return this.#value;
  }

  #made(): JsonValue {
    const isInTable = this.#walk.stamp === this.#stamp;
    return isInTable ? memberValue(this.#walk, this.text) : (JSON.parse(this.text) as JsonValue);
  }
}
