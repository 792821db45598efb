/** Options that a rule of a shell asks about, so that a word which is not seen can be tried as each of them. */
import type { VariantRule } from "./document.ts";

/** Patterns that name more are tried with the first ones. */
const OPTIONS_MAX = 64;

/** Short options in one word: it fits where a pattern looks for a letter among any others. */
const ALL_LETTERS = "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** What stands in a pattern from a hyphen to the next space, with the alternatives in it. */
const ASKED = /(?<![\w-])--?[^\s-]\S*/g;

/** Spellings of options that may fit. */
export function optionsAsked({
  match = "",
  equals = [],
  like = "",
}: VariantRule): readonly string[] {
  // Classes such as `\w` are no letters, and what is escaped is itself.
  const plain = match.replaceAll(/\\[A-Za-z]/g, "*").replaceAll("\\", "");
  const found = new Set<string>();
  for (const text of [plain, ...equals, like]) {
    for (const [asked] of text.matchAll(ASKED)) addOptions(asked, found);
  }
  return [...found].slice(0, OPTIONS_MAX);
}

function addOptions(asked: string, found: Set<string>): void {
  let hyphens = "";
  for (const part of asked.split(/[|()]+/)) {
    const { 1: own = "", 2: rest = "" } = /^(-*)(.*)$/s.exec(part) ?? [];
    // `--(force|all)`: the alternatives have their hyphens in front of all.
    if (own !== "") hyphens = own;
    const [word] = /^[A-Za-z][\w-]*/.exec(rest) ?? [];
    if (word !== undefined) found.add(hyphens + word);
    if (hyphens !== "-") continue;
    found.add(ALL_LETTERS);
    for (const letter of rest.replaceAll(/[^A-Za-z]/g, "")) found.add(`-${letter}`);
  }
}
