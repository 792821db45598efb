// Arbitrary JSON texts: trees whose leaves are written tokens, and several spellings of one tree.
import fc from "fast-check";

/** A tree to spell. Numbers are tokens, so that the spelling of a number can vary too. */
export type Spellable =
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "array"; readonly items: readonly Spellable[] }
  | { readonly kind: "object"; readonly members: readonly (readonly [string, Spellable])[] };

/** Returns a number in 0..n-1, by which a spelling decides what to do. */
export type Choose = (options: number) => number;

const TRICKY_NUMBERS = [
  ...["0", "-0", "0.0", "-0e5", "1", "10", "1e1", "10.0", "1E+1", "0.1", "0.10", "1e-1", "100e-3"],
  ...["9007199254740991", "9007199254740992", "9007199254740993", "9007199254740994"],
  ...[
    "1152921504606846976",
    "1152921504606847000",
    "1e20",
    "100000000000000000000",
    "1e21",
    "1e22",
  ],
  ...["123e45", "1e23", "99999999999999999999999", "1e400", "1e-400", "5e-324", "2e-324"],
  ...["0.1000000000000000055511151231257827", "0.30000000000000004", "0.3000000000000000444"],
  ...[
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "9007199254740992.1",
    "0.99999999999999999",
  ],
  ...["123456789012345", "1234567890123456", "12345678901234567", "0.000001", "0.0000001", "-1.5"],
];

const TRICKY_TEXTS = [
  "",
  "a",
  "b",
  "\n",
  "\u0000",
  '"',
  "\\",
  "/",
  "\u00e9",
  "e\u0301",
  "\u2028",
  "\ud83d\ude00",
];

const TRICKY_KEYS = [
  "",
  "a",
  "aa",
  "ab",
  "b",
  "10",
  "9",
  "\u00e9",
  "\ufb33",
  "\ud83d\ude00",
  "a\n",
  "toString",
  "a\u4e00",
  "b\uffee",
];

/** Trees over small alphabets, which make equal and nearly equal texts likely. */
export const spellable: fc.Arbitrary<Spellable> = fc.letrec<{ tree: Spellable }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc
      .oneof(
        fc.constantFrom(...TRICKY_NUMBERS),
        fc.integer().map(String),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      )
      .map((token) => ({ kind: "token" as const, token })),
    fc.constantFrom("true", "false", "null").map((token) => ({ kind: "token" as const, token })),
    fc
      .oneof(fc.constantFrom(...TRICKY_TEXTS), fc.string({ unit: "binary" }))
      .map((text) => ({ kind: "text" as const, text })),
    fc.array(tie("tree"), { maxLength: 4 }).map((items) => ({ kind: "array" as const, items })),
    fc
      .uniqueArray(fc.tuple(fc.oneof(fc.constantFrom(...TRICKY_KEYS), fc.string()), tie("tree")), {
        selector: ([key]) => key,
        maxLength: 6,
      })
      .map((members) => ({
        kind: "object" as const,
        members: members.filter(([key]) => !isForbidden(key)),
      })),
  ),
})).tree;

function isForbidden(key: string): boolean {
  return key === "__proto__" || key === "constructor" || key === "prototype";
}

/** Deterministic choices from a seed. */
export function chooser(seed: number): Choose {
  let state = seed >>> 0;
  return (options) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * options);
  };
}

/** One spelling of the tree, with the chosen white space, order of members and escapes. */
export function spell(tree: Spellable, choose: Choose): string {
  const space = () => ["", "", "", " ", "\n", "\t\r "][choose(6)] ?? "";
  if (tree.kind === "token") return tree.token;
  if (tree.kind === "text") return spellText(tree.text, choose);
  if (tree.kind === "array") {
    const items = tree.items.map((item) => `${space()}${spell(item, choose)}${space()}`);
    return `[${items.length === 0 ? space() : items.join(",")}]`;
  }
  const members = shuffled(tree.members, choose).map(
    ([key, value]) =>
      `${space()}${spellText(key, choose)}${space()}:${space()}${spell(value, choose)}${space()}`,
  );
  return `{${members.length === 0 ? space() : members.join(",")}}`;
}

function shuffled<T>(list: readonly T[], choose: Choose): T[] {
  const rest = [...list];
  const order: T[] = [];
  while (rest.length > 0) order.push(...rest.splice(choose(rest.length), 1));
  return order;
}

function spellText(text: string, choose: Choose): string {
  if (choose(3) < 2) return JSON.stringify(text);
  let spelled = "";
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
    const escaped = `\\u${unit.toString(16).padStart(4, "0")}`;
    const upper = `\\u${unit.toString(16).toUpperCase().padStart(4, "0")}`;
    // A pair is escaped as a whole or not at all, since a half is refused.
    const choice = isSurrogate ? 1 : choose(4);
    if (choice === 0) spelled += upper;
    else if (choice === 1) spelled += escaped;
    else if (choice === 2 && unit === 0x2f) spelled += "\\/";
    else spelled += JSON.stringify(text.charAt(at)).slice(1, -1);
  }
  return `"${spelled}"`;
}
