// Banned words. `test/language-debt.json` has the number of uses of each word that is still in use, which
// `npm run language` lowers. A word without an entry must not appear.
import { expect, test } from "vitest";
import debt from "./language-debt.json" with { type: "json" };
import { BANNED_WORDS } from "./support/language/banned-words.ts";
import { findWords, listWordUses } from "./support/language/count-words.ts";

const SHOWN_MAX = 20;
const allowed: Readonly<Record<string, number>> = debt;

const wordsIn = (where: "everywhere" | "names", text: string) =>
  findWords(where, text).map(([word]) => word);

test("finds a word in every spelling", () => {
  for (const text of ["findTwin", "FIND_TWINS", "a-twin.test.ts", "// The twin's call", "Twins"]) {
    expect([text, wordsIn("everywhere", text)]).toEqual([text, ["twin"]]);
  }
  expect(findWords("everywhere", "isLiesIn\nlies in it,\nput down")).toEqual([
    ["lies in", 0],
    ["lies in", 1],
    ["put down", 2],
  ]);
  expect(wordsIn("everywhere", "between twine, recommend, amendment, put\ndown")).toEqual([]);
  expect(wordsIn("names", "isKnown unknown foundation knownNames")).toEqual(["known", "known"]);
});

test("uses no invented word more often than before", { timeout: 120_000 }, () => {
  const uses = listWordUses();
  const offenders = BANNED_WORDS.flatMap(({ word, instead }) => {
    const found = uses.filter((use) => use.word === word);
    const most = allowed[word] ?? 0;
    if (found.length <= most) return [];
    const places = found.slice(0, SHOWN_MAX).map(({ at }) => at);
    return [`\`${word}\`: ${found.length} uses, at most ${most}; write ${instead}`, ...places];
  });
  expect(offenders).toEqual([]);
});

test("has debt only for banned words, with numbers above zero", () => {
  const words = new Set(BANNED_WORDS.map(({ word }) => word));
  const wrong = Object.entries(allowed).filter(([word, count]) => !words.has(word) || count < 1);
  expect(wrong).toEqual([]);
});
