/**
 * Packed values: JSON values as bytes, for states of conversations, in which the same long texts
 * occur again and again.
 *
 * PACKED-1 equal values give equal bytes: members in the order of their names, and the shortest form
 * of each value.
 * PACKED-2 `unpackValue(packValue(v))` is what `JSON.parse(JSON.stringify(v))` is.
 *
 * A value is a tag and what belongs to it. A text, a large number and a list of member names are
 * written once, and then referred to: a text by how many texts came since, the others by their
 * number. Hex digits take half a byte each; a text that contains a long run of them is written in
 * parts, since the run is often a digest that occurs elsewhere. A large whole number is written as
 * its distance from the one before it: most are times.
 */
export const TAG = {
  null: 0,
  false: 1,
  true: 2,
  /** Varint; a whole number of 0 or more that the tag itself cannot name, below `LARGE`. */
  whole: 3,
  /** Varint of the magnitude; below zero, above `-LARGE`. */
  negative: 4,
  /** Zigzag varint: distance from the last large number. */
  large: 5,
  /** Eight bytes; a whole number beyond `TIME_MAX`, too. */
  float: 6,
  /** Varint of bytes, then UTF-8. */
  text: 7,
  /** Varint of bytes; each is two lower-case hex digits. */
  hex: 8,
  /** Varint of bytes, then a JSON literal: a text with half a surrogate pair. */
  literal: 9,
  /** Varint: how many texts came since. */
  reference: 10,
  /** Varint of items, then the items. */
  list: 11,
  /** Varint of members, the names as texts, then the values. */
  record: 12,
  /** Varint: the number of the record's list of names; then the values. */
  shaped: 13,
  /** Varint of parts, then the parts as texts: a text with long runs of hex digits. */
  joined: 14,
  /** Varint: the number of the large number. */
  repeated: 15,
} as const;

/** From here on a tag is a whole number, a reference, or a short list by itself. */
export const SMALL_WHOLE = 32;
export const SMALL_WHOLE_COUNT = 64;
export const SMALL_LIST = SMALL_WHOLE + SMALL_WHOLE_COUNT;
export const SMALL_LIST_COUNT = 32;
export const SMALL_REFERENCE = SMALL_LIST + SMALL_LIST_COUNT;
export const SMALL_REFERENCE_COUNT = 256 - SMALL_REFERENCE;

/** Whole numbers of this size and more are times and sizes in bytes. */
export const LARGE = 2 ** 31;

/** Times in ms are below it, and twice the distance between two is a safe number. */
export const TIME_MAX = 2 ** 50;

/** Shorter texts of hex digits are names. */
export const HEX_DIGITS_MIN = 8;

/** Fewer hex digits within a text are not worth a part of their own. */
export const HEX_RUN_MIN = 16;

/** What writer and reader have before the first byte. */
export type Vocabulary = {
  readonly texts: readonly string[];
  /** The number of each of `texts`. */
  readonly textNumbers: ReadonlyMap<string, number>;
  /** Names of members of records, each list in the order of names. */
  readonly shapes: readonly (readonly string[])[];
  /** The number of each of `shapes` by its names with spaces between. */
  readonly shapeNumbers: ReadonlyMap<string, number>;
};

/** @param shapes names with spaces between, in the order of names */
export function vocabularyOf(texts: readonly string[], shapes: readonly string[]): Vocabulary {
  return {
    texts,
    textNumbers: new Map(texts.map((text, at) => [text, at])),
    shapes: shapes.map((names) => names.split(" ")),
    shapeNumbers: new Map(shapes.map((names, at) => [names, at])),
  };
}

export const NO_VOCABULARY: Vocabulary = vocabularyOf([], []);
