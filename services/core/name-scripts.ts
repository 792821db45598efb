/**
 * Whether a name mixes scripts (UTS 39, 5.2, "Highly Restrictive"): a Cyrillic letter among Latin
 * ones makes a different name that looks the same. A name is of one script that is in general use
 * (UAX 31, table 5), or of Latin with Japanese, Korean or Bopomofo, which have no letters that look
 * Latin. Digits, punctuation, signs and emoji go with any script.
 * Limits: a name that is wholly of another script passes, even where all its letters look Latin.
 * Only the data of confusables would detect it, and no maintained library of it exists for Node.
 * Names in scripts of limited use (Cherokee, Tifinagh, N'Ko, Adlam) are refused; write them in
 * Latin letters.
 */

/** Each script with the scripts that are written together with it. */
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
