/** Names of people and agents: who says something, and whether two names are one. */

import { dropHidden, hasHidden, hasVisible } from "./hidden-text.ts";
import { LIMITS } from "./limits.ts";
import { mixesScripts } from "./name-scripts.ts";

/** Why nobody can act under this name, or undefined; `field` is the sender's name for it. */
export function speakerProblem(name: string, field = "by"): string | undefined {
  // The length is checked before anything else: a program may pass a text of any size.
  if (name.length > LIMITS.speakerLength)
    return `\`${field}\` is longer than ${LIMITS.speakerLength} characters`;
  if (!hasVisible(name)) return `a verdict needs \`${field}\`, the name of the person who gives it`;
  if (hasHidden(name)) {
    return `\`${field}\` has characters that nobody sees: write the name without them`;
  }
  if (!mixesScripts(name)) return undefined;
  return `\`${field}\` mixes letters of several scripts, which can look like another name: write it in one script`;
}

/**
 * Whether both names are one. White space around or between words, capital letters and other forms
 * of a letter (NFKC: full width, ligatures) do not make another person.
 */
export function isSameSpeaker(one: string, other: string): boolean {
  if (one === other) return true;
  // Fast path for most names: the gate asks this for each call that a grant may serve.
  if (PLAIN.test(one) && PLAIN.test(other)) return one.toLowerCase() === other.toLowerCase();
  return foldedName(one) === foldedName(other);
}

/** Letters, digits and signs of ASCII, without white space. */
const PLAIN = /^[!-~]+$/;

export function hasSpoken(names: readonly string[], name: string): boolean {
  return names.some((one) => isSameSpeaker(one, name));
}

/** Upper case comes first, so that letters with one capital are one, `ß` and `ss` too. */
export function foldedName(name: string): string {
  const plain = name.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
  return dropHidden(plain.replaceAll(/\s/gu, " ")).replaceAll(/ +/gu, " ").trim();
}
