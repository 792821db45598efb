/** Of which programs a rule can be about, by how the texts begin that it fits. */
import type { VariantRule } from "./document.ts";

/**
 * Whether the rule can fit a command of a program, or of a group as `docker compose`, whatever follows its name; true also where that cannot be told: a
 * rule that is left out would let a command pass that it is about.
 */
export function compileCanFit({ match, equals, like }: VariantRule): (program: string) => boolean {
  const ofMatch = match === undefined ? null : beginningsOf(match);
  const ofLike = like?.split("|").map((glob) => glob.trim().split("*", 1)[0] ?? "");
  // A text must fit all that the rule says.
  const asked = [ofMatch, equals, ofLike].filter((one) => one !== null && one !== undefined);
  return (program) => {
    const begun = `${program} `;
    const fits = (one: string): boolean => begun.startsWith(one) || one.startsWith(begun);
    return asked.every((beginnings) => beginnings.some(fits));
  };
}

/** What is read further than a beginning: groups that say how they are meant, and texts in quotes. */
const UNTOLD = /\(\?(?!:)|\\Q/;

/** Classes whose end is not the first bracket: `[]a]`, `[[:alpha:]]`. */
const ODD_CLASS = /^\[(?:\^?\]|.*\[:)/s;

/** How the texts begin that a pattern fits; null: it is not told. */
function beginningsOf(pattern: string): readonly string[] | null {
  const tokens = [...pattern.matchAll(TOKEN)].map(([token]) => token);
  if (UNTOLD.test(pattern) || tokens.some((token) => ODD_CLASS.test(token))) return null;
  const found: string[] = [];
  for (const one of alternativesOf(tokens)) {
    if (!one.startsWith("^")) return null;
    found.push(...beginningsOfOne(one.slice(1)));
  }
  return found;
}

/** An escaped character, a class, or a character. */
const TOKEN = /\\.|\[(?:\\.|[^\]\\])*\]|./gs;

/** What stands between the bars that are in no group. */
function alternativesOf(tokens: readonly string[]): readonly string[] {
  const found = [""];
  let depth = 0;
  for (const token of tokens) {
    if (token === "(") depth += 1;
    if (token === ")") depth -= 1;
    if (token === "|" && depth === 0) found.push("");
    else found[found.length - 1] += token;
  }
  return found;
}

/** Literal characters, then perhaps texts to choose from, and literal characters behind them. */
const BEGINNING =
  /^([\w\s/@:=,-]*)(?:\((?:\?:)?([\w /@:=,-]+(?:\|[\w /@:=,-]+)*)\)([\w\s/@:=,-]*))?/;

function beginningsOfOne(text: string): readonly string[] {
  const [whole = "", lead = "", words, tail = ""] = BEGINNING.exec(text) ?? [];
  const behind = text.charAt(whole.length);
  if (words === undefined) return [withoutRepeated(lead, behind)];
  // The group itself may be left out, or stand there more than once.
  if (tail === "" && REPEATS.test(behind)) return [lead];
  return words.split("|").map((word) => `${lead}${word}${withoutRepeated(tail, behind)}`);
}

const REPEATS = /^[*?+{]$/;

/** The last character may be left out, where the pattern says how often it stands there. */
function withoutRepeated(text: string, behind: string): string {
  return REPEATS.test(behind) ? text.slice(0, -1) : text;
}
