/**
 * Whether a value would be too large as JSON, determined before any of it is written.
 *
 * SIZE-1 the walk ends as soon as the bound is exceeded, and reads only the length of a text.
 * SIZE-2 the count never exceeds the real JSON size, so no value is wrongly called too large.
 */

export type JsonBound = {
  /** Characters of the JSON text. */
  readonly characters: number;
  /** Members of all objects. */
  readonly keys: number;
  /** Items of all arrays. */
  readonly items: number;
};

/** A deeper value cannot be written as JSON at all: it is most likely a cycle. */
const DEPTH_MAX = 1_000;

/** Never throws on plain data; a caller's getter or proxy may throw. */
export function findJsonExcess(value: unknown, bound: JsonBound): Excess | null {
  const left = { ...bound, depth: DEPTH_MAX };
  spend(value, left);
  if (left.keys < 0) return "keys";
  if (left.items < 0) return "items";
  return left.characters < 0 ? "characters" : null;
}

/** The bound that was exceeded. */
export type Excess = keyof JsonBound;

type Left = { characters: number; keys: number; items: number; depth: number };

function spend(value: unknown, left: Left): void {
  if (typeof value === "string") left.characters -= value.length;
  else if (typeof value !== "object" || value === null) left.characters -= 1;
  else if (ArrayBuffer.isView(value)) left.characters -= value.byteLength;
  else if (left.depth > 0 && typeof Reflect.get(value, "toJSON") !== "function") {
    left.depth -= 1;
    if (Array.isArray(value)) spendItems(value, left);
    else spendMembers(value, left);
    left.depth += 1;
  }
}

function isSpent({ characters, keys, items }: Left): boolean {
  return characters < 0 || keys < 0 || items < 0;
}

function spendItems(items: readonly unknown[], left: Left): void {
  // A comma and at least one character each.
  left.characters -= items.length;
  left.items -= items.length;
  for (let at = 0; at < items.length && !isSpent(left); at += 1) spend(items[at], left);
}

function spendMembers(value: object, left: Left): void {
  // Iterates instead of building a list of all names.
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    const member: unknown = Reflect.get(value, key);
    if (member === undefined || typeof member === "function" || typeof member === "symbol")
      continue;
    left.keys -= 1;
    left.characters -= key.length + 3;
    if (isSpent(left)) return;
    spend(member, left);
  }
}
