/** Where the subcommand of a program may be. */
import type { CommandForms } from "./option-forms.ts";
import { mayBeMore, mayBeSeveral, type ShellWord } from "./shell-line.ts";

export interface Places {
  readonly found: readonly number[];
  /** A value before them may be several words, of which one is the subcommand. */
  readonly mayBeOther: boolean;
  /** Which subcommand it is nobody sees. */
  readonly unseen: boolean;
}

/** More places are not looked at: each is a text of its own. */
export const PLACES_MAX = 17;

/** What one word may be: the subcommand, or an option with so many words; `open`: nobody sees which. */
type Step = "subcommand" | "open" | Reading;

/** Where it goes on behind a word: at the next one, at the one after, or at either. */
type Reading = readonly [alone: boolean, withValue: boolean];

const ALONE: Reading = [true, false];
const WITH_VALUE: Reading = [false, true];
const EITHER: Reading = [true, true];
const ENDS: Reading = [false, false];

/** Goes through all readings at once, as each goes on behind the same word. */
export function placesOf(words: readonly ShellWord[], forms: CommandForms, from = 1): Places {
  const found: number[] = [];
  let mayBeOther = false;
  let reading: Reading = ALONE;
  for (let at = from; at < words.length && reading.includes(true); at += 1) {
    const word = words[at] as ShellWord;
    const [isHere, isNext]: Reading = reading;
    const step = isHere ? stepOf(word, words[at + 1], forms) : ENDS;
    if (step === "open" || found.length >= PLACES_MAX) return { found, mayBeOther, unseen: true };
    if (step === "subcommand") found.push(at);
    mayBeOther ||= addsWords(word, forms);
    const [alone, withValue] = step === "subcommand" ? behindSubcommand(forms) : step;
    reading = [isNext || alone, withValue];
  }
  return { found, mayBeOther, unseen: false };
}

/** A path may be a goal. */
function addsWords(word: ShellWord, { goals }: CommandForms): boolean {
  return !NUMBER.test(word.text) && (goals === true ? mayBeSeveral(word) : mayBeMore(word));
}

function behindSubcommand({ goals }: CommandForms): Reading {
  return goals === true ? ALONE : ENDS;
}

/** Also the two hyphens that end options, and the toolchain of `cargo`. */
const OPTION = /^[-+]\w|^--(?:\w|$)/;

const LONG_WITH_VALUE = /^--?\w[\w-]*=/;

/** `-j$(nproc)` is a number. */
const NUMBER = /^-[a-zA-Z]*j$|^--jobs=$/;

/** A variable of `make`. */
const VARIABLE = /^\w[\w.-]*[:+?]*=/;

/** Some programs take these words as the value of an option that stands alone elsewhere. */
const SWITCH = /^(?:true|false|null)$/;

function stepOf(word: ShellWord, next: ShellWord | undefined, forms: CommandForms): Step {
  const { text, open } = word;
  if (forms.goals === true && VARIABLE.test(text)) return ALONE;
  if (open) return isOptionWithValue(text, forms) ? ALONE : "open";
  if (!OPTION.test(text)) return "subcommand";
  return next === undefined || text === "--" ? ALONE : readingOf(text, next.text, forms);
}

/** The value may be unseen. */
function isOptionWithValue(text: string, { joined }: CommandForms): boolean {
  return LONG_WITH_VALUE.test(text) || NUMBER.test(text) || joined?.test(text) === true;
}

function readingOf(option: string, next: string, { flags, values }: CommandForms): Reading {
  // Where an option comes, some programs leave the one before without a value.
  if (values?.test(option) === true) return next.startsWith("-") ? EITHER : WITH_VALUE;
  if (flags?.test(option) === true) return SWITCH.test(next) ? EITHER : ALONE;
  return option.includes("=") ? ALONE : EITHER;
}
