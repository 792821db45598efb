/** `xargs` runs a command with words that nobody has seen: they may be options. */
import {
  FROM_INPUT,
  GIVEN,
  NO_OPTION,
  type OptionForms,
  type Ran,
  UNSEEN,
  type Words,
} from "./ran.ts";
import type { ShellWord } from "./shell-line.ts";

const OPTIONS: Required<OptionForms> = {
  flags:
    /^-[0oprtx]+$|^-[0oprtx]*(?:[nLPdsaERS].+|[el].*)$|^--(?:null|no-run-if-empty|verbose|interactive|exit|open-tty|show-limits|eof|max-lines)$|^--(?:eof|max-lines|max-args|max-procs|max-chars|delimiter|arg-file|process-slot-var)=./s,
  values:
    /^-[0oprtx]*[nLPdsaERS]$|^--(?:max-args|max-procs|max-chars|delimiter|arg-file|process-slot-var)$/,
};
/** Options that say what the input stands in for. */
const MARKS = /^-[0oprtx]*[IJ]$/;
const MARKS_JOINED = /^(?:-[0oprtx]*(?:[IJ](?=.)|i)|--replace(?:=|$))(.*)$/s;
const USUAL_MARK = "{}";
/** `-P$(nproc)` is a number. */
const NUMBER = /^(?:-[0oprtx]*P|--max-procs=)$/;

export function ranByXargs(words: Words): Ran {
  let at = 1;
  let mark = "";
  for (;;) {
    const option = optionAt(words, at);
    if (option === "unseen") return UNSEEN;
    if (option === null) return ranWithInput(words.slice(at), mark);
    mark = option.mark ?? mark;
    at += option.words;
  }
}

interface Option {
  readonly words: 1 | 2;
  readonly mark?: string;
}

/** Null: it is no option that is known. */
function optionAt(words: Words, at: number): Option | "unseen" | null {
  const { text, open, splits } = words[at] ?? NO_OPTION;
  if (open && NUMBER.test(text)) return { words: 1 };
  const option = optionOf(text, words[at + 1] ?? NO_OPTION);
  return splits || (open && option !== null) ? "unseen" : option;
}

function optionOf(text: string, next: ShellWord): Option | "unseen" | null {
  if (MARKS.test(text)) return next.open ? "unseen" : { words: 2, mark: next.text };
  const joined = MARKS_JOINED.exec(text)?.[1];
  if (joined !== undefined) return { words: 1, mark: joined === "" ? USUAL_MARK : joined };
  if (OPTIONS.values.test(text)) return { words: 2 };
  return OPTIONS.flags.test(text) ? { words: 1 } : null;
}

/** `mark`: what the input stands in for, where that is said; it may be the command itself. */
function ranWithInput(inner: Words, mark: string): Ran {
  const [command] = inner;
  if (command === undefined) return { floor: "read", commands: [], lines: [], hidden: false };
  const isMarked = (text: string): boolean => mark !== "" && text.includes(mark);
  if (command.open || command.text.startsWith("-") || isMarked(command.text)) return UNSEEN;
  const seen = inner.map((word) => (isMarked(word.text) ? { ...word, open: true } : word));
  const given = mark === "" ? FROM_INPUT : GIVEN;
  return { floor: "read", commands: [[...seen, given]], lines: [], hidden: false };
}
