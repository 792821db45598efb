// `npm run language`: lowers the numbers of test/language-debt.json to the remaining uses, and never raises
// one. `-- WORD` lists the uses of a word.
import { readFileSync, writeFileSync } from "node:fs";
import { BANNED_WORDS } from "../test/support/language/banned-words.ts";
import { listWordUses } from "../test/support/language/count-words.ts";

const file = new URL("../test/language-debt.json", import.meta.url);
const debt: Readonly<Record<string, number>> = JSON.parse(readFileSync(file, "utf8"));
const uses = listWordUses();
const shown = new Set(process.argv.slice(2));
for (const { word, at } of uses.filter((use) => shown.has(use.word))) {
  process.stdout.write(`${at}: ${word}\n`);
}
const counts = BANNED_WORDS.map(({ word }) => {
  const count = uses.filter((use) => use.word === word).length;
  return [word, Math.min(count, debt[word] ?? 0)] as const;
});
const left = Object.fromEntries(counts.filter(([, count]) => count > 0));
writeFileSync(file, `${JSON.stringify(left, null, 2)}\n`);
