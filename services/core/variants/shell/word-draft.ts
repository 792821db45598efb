import { expandBraces, markBrace, OPEN_MARK, unmarked } from "./braces.ts";
import type { ShellWord } from "./shell-line.ts";
import { OPEN_OPTION } from "./spelling.ts";

/** A word in the making; `raw` is its spelling in the line. */
export interface WordDraft {
  text: string;
  open: boolean;
  startsOpen: boolean;
  splits: boolean;
  streams: boolean;
  /** Nothing of it stands in quotes. */
  isBare: boolean;
  /** The text with marks, as braces are read (braces.ts). */
  marked: string;
  hasBraces: boolean;
  /** It begins with `$HOME`. */
  isHome: boolean;
  raw: string;
}

export function emptyWord(): WordDraft {
  return {
    text: "",
    open: false,
    startsOpen: false,
    splits: false,
    streams: false,
    isBare: true,
    marked: "",
    hasBraces: false,
    isHome: false,
    raw: "",
  };
}

/** The next character is only known when it runs; `name`: the variable that it comes from. */
export function reveal(word: WordDraft, name = ""): void {
  const isFirst = word.text === "" && !word.open;
  word.startsOpen ||= isFirst;
  word.isHome ||= isFirst && name === "HOME";
  word.open = true;
  word.marked += OPEN_MARK;
}

export function addText(word: WordDraft, text: string): void {
  word.text += text;
  word.marked += text;
}

export function addQuoted(word: WordDraft, text: string): void {
  word.isBare = false;
  addText(word, text);
}

/** A letter without quotes: a glob, a brace, or itself. */
export function addLetter(word: WordDraft, letter: string): void {
  if (/[*?[]/.test(letter)) reveal(word);
  word.hasBraces ||= letter === "{";
  word.text += letter;
  word.marked += word.hasBraces && /[{,}]/.test(letter) ? markBrace(letter) : letter;
}

/** The word as shells know it that leave braces as they are, and the words that others make of it; null: too many. */
export interface Spelled {
  readonly word: ShellWord;
  readonly words: readonly ShellWord[] | null;
}

export function spelled(draft: WordDraft): Spelled {
  const word = asWord(draft);
  if (!draft.hasBraces) return { word, words: [word] };
  const expanded = expandBraces(draft.marked);
  if (expanded === null) return { word, words: null };
  const isOne = expanded.length === 1 && expanded[0] === draft.marked;
  if (isOne) return { word, words: [word] };
  // Which shell reads it nobody says.
  const startsOpen = draft.startsOpen || draft.marked.startsWith(markBrace("{"));
  const words = expanded.map((one) => {
    const isHome = draft.isHome && one.startsWith(OPEN_MARK);
    return asWord({ ...unmarked(one, draft), isHome, marked: one });
  });
  return {
    word: asWord({ ...draft, open: true, startsOpen }),
    words: words.filter(({ text, open, isBare }) => text !== "" || open || isBare !== true),
  };
}

type Draft = ShellWord & Pick<WordDraft, "isHome" | "marked">;

function asWord({
  text,
  open,
  startsOpen,
  splits,
  streams,
  isBare = false,
  ...more
}: Draft): ShellWord {
  const mayBeOption = startsOpen || splits || (open && OPEN_OPTION.test(text));
  const word = { text, startsOpen: mayBeOption, open, splits, streams, isBare };
  if (!more.isHome || !/^(?:\/|$)/.test(text)) return word;
  const isSeen = more.marked.lastIndexOf(OPEN_MARK) === 0;
  const inHome = {
    ...word,
    text: `~${text}`,
    open: !isSeen,
    startsOpen: false,
    splits: splits && !isSeen,
  };
  return { ...word, inHome };
}
