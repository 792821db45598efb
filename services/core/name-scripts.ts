/**
 * Whether a name mixes scripts (UTS 39, 5.2, "Highly Restrictive"): a Cyrillic letter among Latin ones makes a name that
 * reads like another and is none. A name is of one script that is in general use (UAX 31, table 5), or of Latin with
 * Japanese, Korean or Bopomofo, which have no letters that look Latin. Digits, punctuation, signs and emoji go with any.
 *
 * Limits. A name that is of another script as a whole passes, also where all its letters look Latin: the data of
 * confusables would tell, and no maintained library of it exists for Node. Names in scripts of limited use (Cherokee,
 * Tifinagh, N'Ko, Adlam) are refused; write them in Latin letters.
 */

/** Each with what is written together with it. */
const SCRIPTS: readonly (readonly string[])[] = [
  ...[
    "Latn",
    "Cyrl",
    "Grek",
    "Armn",
    "Hebr",
    "Arab",
    "Thaa",
    "Deva",
    "Beng",
    "Guru",
    "Gujr",
    "Orya",
  ],
  ...[
    "Taml",
    "Telu",
    "Knda",
    "Mlym",
    "Sinh",
    "Thai",
    "Laoo",
    "Tibt",
    "Mymr",
    "Geor",
    "Ethi",
    "Khmr",
  ],
].map((script) => [script]);

const WITH_LATIN: readonly (readonly string[])[] = [
  ["Latn", "Hani", "Hira", "Kana"],
  ["Latn", "Hani", "Hang"],
  ["Latn", "Hani", "Bopo"],
];

const PLAIN = /^[ -~]*$/;

const ALLOWED: readonly RegExp[] = [...SCRIPTS, ...WITH_LATIN].map((scripts) => {
  const own = scripts.map((script) => `\\p{scx=${script}}`).join("");
  return new RegExp(`^[${own}\\p{scx=Common}\\p{scx=Inherited}]*$`, "u");
});

export function mixesScripts(name: string): boolean {
  const text = name.normalize("NFKC");
  if (PLAIN.test(text)) return false;
  return !ALLOWED.some((allowed) => allowed.test(text));
}
