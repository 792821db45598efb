/** The arguments of a call, which are parsed only when something reads them. */
import type { JsonObject } from "../canonical/json-value.ts";

/** A call's arguments, which are built when something reads them. */
export interface LazyArguments {
  readonly value: JsonObject;
}

/** Arguments of a canonical text. */
export class TextArguments implements LazyArguments {
  readonly #text: string;
  #value: JsonObject | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  get value(): JsonObject {
    this.#value ??= JSON.parse(this.#text) as JsonObject;
    return this.#value;
  }
}
