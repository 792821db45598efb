// Bans invented words from names, paths and texts of the repository.
import { expect, test } from "vitest";
import { BANNED_WORDS } from "./support/language/banned-words.ts";
import { findWords, listWordUses } from "./support/language/count-words.ts";

const SHOWN_MAX = 20;

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

test("uses no invented word", { timeout: 120_000 }, () => {
  const uses = listWordUses();
  const offenders = BANNED_WORDS.flatMap(({ word, instead }) => {
    const locations = uses.filter((use) => use.word === word).map(({ at }) => at);
    if (locations.length === 0) return [];
    return [
      `\`${word}\`: ${locations.length} uses; write ${instead}`,
      ...locations.slice(0, SHOWN_MAX),
    ];
  });
  expect(offenders).toEqual([]);
});
