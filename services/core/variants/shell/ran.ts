/** What a command runs besides itself, as far as its words say. */
import type { VariantClass } from "../variant-class.ts";
import type { ShellWord } from "./shell-line.ts";

export type Words = readonly ShellWord[];

export interface Ran {
  /** What it is besides the commands that it runs. */
  readonly floor: VariantClass;
  /** Commands that it runs, the words of each. */
  readonly commands: readonly Words[];
  /** Lines that it has a shell read. */
  readonly lines: readonly string[];
  /** Something else may run, which the words do not show. */
  readonly hidden: boolean;
}

/** It runs something, and nobody sees what. */
export const UNSEEN: Ran = { floor: "write", commands: [], lines: [], hidden: true };

/** Where no word is. */
export const NO_OPTION: ShellWord = {
  text: "",
  open: false,
  startsOpen: false,
  splits: false,
  streams: false,
};

/** What stands in for others. */
export const GIVEN: ShellWord = { ...NO_OPTION, startsOpen: true, open: true, splits: true };
/** Words of an input. */
export const FROM_INPUT: ShellWord = { ...GIVEN, given: "input" };
/** Words that come later. */
export const FROM_LINE: ShellWord = { ...GIVEN, given: "line" };

/** Words that a shell reads as one line; what their expansions bring is not seen. */
export function ranByText(words: Words): Ran {
  const line = words.map(({ text }) => text).join(" ");
  return { floor: "run", commands: [], lines: [line], hidden: words.some(({ open }) => open) };
}

export interface OptionForms {
  /** Options that stand alone, or carry their value in the same word. */
  readonly flags?: RegExp;
  /** Options whose value is the next word. */
  readonly values?: RegExp;
}

/** Where the first word stands that is none of these options, and no value of one. */
export function afterOptions(words: Words, { flags, values }: OptionForms, from = 1): number {
  let at = from;
  for (;;) {
    const { text, open } = words[at] ?? { text: "", open: true };
    if (!open && values?.test(text) === true) at += 2;
    else if (!open && flags?.test(text) === true) at += 1;
    else return at;
  }
}
