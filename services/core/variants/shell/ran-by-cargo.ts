/** `cargo watch -x test -s 'npm test'`, `cargo watch -- npm test`. */
import { formsOf } from "./option-forms.ts";
import { placesOf } from "./places.ts";
import { NO_OPTION, type Ran, ranByText, UNSEEN, type Words } from "./ran.ts";
import type { ShellWord } from "./shell-line.ts";

/** A subcommand of cargo with its words, and a text for a shell; each as often as it stands there. */
const SUBCOMMAND = /^(?:-[bcgjkNpqvV]*x=?|--exec(?:=|$))(.*)$/s;
const TEXT = /^(?:-[bcgjkNpqvV]*s=?|--shell(?:=|$))(.*)$/s;

/** Texts of one command: more are not looked at. */
const TEXTS_MAX = 16;

/** Null: it runs no other. */
export function ranByCargo(words: Words): Ran | null {
  const { found } = placesOf(words, formsOf("cargo") ?? {});
  const at = found.find((place) => words[place]?.text === "watch");
  const given = at === undefined ? [] : textsIn(words.slice(at + 1));
  if (given.length === 0) return null;
  if (given.length > TEXTS_MAX) return UNSEEN;
  const ran = given.map((one) => ranByText(one));
  return {
    // It may be another subcommand, of which this is an argument.
    floor: found.length === 1 ? "run" : "write",
    commands: [],
    lines: ran.flatMap(({ lines }) => lines),
    hidden: ran.some(({ hidden }) => hidden),
  };
}

const CARGO: ShellWord = { ...NO_OPTION, text: "cargo" };

/** Each as words that are a line together. */
function textsIn(words: Words): readonly Words[] {
  const found: Words[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] as ShellWord;
    if (word.text === "--") return [...found, words.slice(at + 1)];
    const subcommand = SUBCOMMAND.exec(word.text)?.[1];
    const joined = subcommand ?? TEXT.exec(word.text)?.[1];
    if (joined === undefined) continue;
    if (joined === "") at += 1;
    const text = joined === "" ? (words[at] ?? NO_OPTION) : { ...word, text: joined };
    found.push(subcommand === undefined ? [text] : [CARGO, text]);
  }
  return found;
}
