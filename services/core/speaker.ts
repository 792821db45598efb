/** Names of people and agents: who says something, and whether two names are one. */

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
const ALL_UNSEEN = new RegExp(UNSEEN, "gu");

/** Why nobody can speak under this name, or undefined; `field` is what the sender calls it. */
export function speakerProblem(name: string, field = "by"): string | undefined {
  if (foldedName(name) === "") return `a verdict must say \`${field}\`: who says so`;
  if (!UNSEEN.test(name)) return undefined;
  return `\`${field}\` has characters that nobody sees: write the name without them`;
}

/**
 * Whether both are one: neither blanks around or between words, nor capital letters, nor another form of a letter
 * (NFKC: full width, ligatures) make another person. Journals of earlier versions have names that could not be given today.
 */
export function isSameSpeaker(one: string, other: string): boolean {
  if (one === other) return true;
  // Most names are: asked for each call that a grant may serve.
  if (PLAIN.test(one) && PLAIN.test(other)) return one.toLowerCase() === other.toLowerCase();
  return foldedName(one) === foldedName(other);
}

/** Letters, digits and signs of ASCII, without blanks. */
const PLAIN = /^[!-~]+$/;

export function hasSpoken(names: readonly string[], name: string): boolean {
  return names.some((one) => isSameSpeaker(one, name));
}

/** Upper case first: letters that share one capital are one, `ß` and `ss` too. */
export function foldedName(name: string): string {
  const plain = name.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
  const seen = plain.replaceAll(/\s/gu, " ").replaceAll(ALL_UNSEEN, "");
  return seen.replaceAll(/ +/gu, " ").trim();
}
