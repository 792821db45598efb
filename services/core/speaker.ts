/** Names of people and agents: who says something, and whether two names are one. */

import { dropHidden, hasHidden, hasVisible } from "./hidden-text.ts";
import { LIMITS } from "./limits.ts";
import { mixesScripts } from "./name-scripts.ts";

/** Why nobody can speak under this name, or undefined; `field` is what the sender calls it. */
export function speakerProblem(name: string, field = "by"): string | undefined {
  // Before anything is looked at: what a program hands over may be of any size.
  if (name.length > LIMITS.idLength)
    return `\`${field}\` is longer than ${LIMITS.idLength} characters`;
  if (!hasVisible(name)) return `a verdict needs \`${field}\`, the name of the person who gives it`;
  if (hasHidden(name)) {
    return `\`${field}\` has characters that nobody sees: write the name without them`;
  }
  if (!mixesScripts(name)) return undefined;
  return `\`${field}\` mixes letters of several scripts, which can look like another name: write it in one script`;
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
  return dropHidden(plain.replaceAll(/\s/gu, " ")).replaceAll(/ +/gu, " ").trim();
}
