/** Words as a program sees them: literal after unquoting, with a short list of expansions. */
import { NotPlain } from "./not-plain.ts";
import type { Word, WordPart } from "./syntax-tree.ts";

export interface ReadWord {
  /** Literal; `$HOME` is `~`, `$PWD` is `.`, patterns keep their spelling. */
  readonly text: string;
  /** Null where the word is literal; else a spelling that no literal word has. */
  readonly expanded: string | null;
  /** Whether it contains an unquoted pattern. */
  readonly isGlob: boolean;
}

/** Expansions whose value is a directory. */
const DIRECTORIES: ReadonlyMap<string, "." | "~"> = new Map([
  ["$PWD", "."],
  [`\${PWD}`, "."],
  ["$(pwd)", "."],
  ["`pwd`", "."],
  ["$HOME", "~"],
  [`\${HOME}`, "~"],
]);

/** The root of the repository, which only `cd` may use. */
export const TOP_LEVEL = "$(git rev-parse --show-toplevel)";

/**
 * The form of text that is literal: a second opinion, in case the parser is mistaken. Text that a
 * backslash quotes is removed before.
 */
const UNQUOTED = /^(?:[^\\$`'"<>()|&;\s]|\$(?![\w{([?$!#@*'"-]))*$/;
/** Bash takes the line's end out before it reads what the dollar begins. */
const SPLIT_DOLLAR = /\$\\\n/;
const QUOTED = /^(?:[^\\$`"]|\$(?![\w{([?$!#@*-]))*$/;
const BRACES = /\{[^{}]*\}/g;

const KINDS: Partial<Record<WordPart["type"], string>> = {
  AnsiCQuoted: "a quotation of the form $'…'",
  LocaleString: 'a quotation of the form $"…"',
  SimpleExpansion: "the variable",
  ParameterExpansion: "the expansion",
  CommandExpansion: "the command substitution",
  ArithmeticExpansion: "the arithmetic",
  ProcessSubstitution: "the process substitution",
  ExtendedGlob: "the extended pattern",
  BraceExpansion: "the brace expansion",
};

/** @throws NotPlain where the word's value is not known before it runs */
export function readWord(word: Word): ReadWord {
  if (word.text.startsWith("~") && !/^~(?:\/|$)/.test(word.text))
    throw new NotPlain("the home of another user", word, word.text);
  const { parts } = word;
  if (parts === undefined && /^[\w./:,@%+-]*$/.test(word.text)) return literalWord(word.text);
  const draft = new WordDraft(word);
  if (parts === undefined) draft.addUnquoted(word);
  else for (const part of parts) draft.addPart(part);
  return draft.finish();
}

/** @throws NotPlain also where the word is a pattern */
export function readLiteral(word: Word): string {
  const { text, isGlob } = readWord(word);
  if (isGlob) throw new NotPlain("the pattern", word, word.text);
  return text;
}

function literalWord(text: string): ReadWord {
  return { text, expanded: null, isGlob: false };
}

class WordDraft {
  readonly #word: Word;
  #text = "";
  #spelling = "";
  #expands: boolean;
  #isGlob = false;
  /**
   * Positions where a directory's name ends in the text: what follows must not lengthen the name.
   */
  readonly #ends: number[] = [];

  constructor(word: Word) {
    if (SPLIT_DOLLAR.test(word.text)) throw new NotPlain("the word", word, word.text);
    this.#word = word;
    this.#expands = word.text.startsWith("~");
  }

  addPart(part: WordPart): void {
    if (part.type === "Literal") this.addUnquoted(part);
    else if (part.type === "SingleQuoted") this.#add(part.value, escapeActive(part.value));
    else if (part.type === "DoubleQuoted") for (const child of part.parts) this.#addQuoted(child);
    else if (part.type === "Glob") this.#addGlob(part);
    else this.#addExpansion(part);
  }

  addUnquoted(part: { readonly text: string; readonly value: string; readonly pos: number }): void {
    const unescaped = dropEscaped(part.text);
    if (!UNQUOTED.test(unescaped)) throw new NotPlain("the word", part, part.text);
    for (const [group] of unescaped.matchAll(BRACES))
      if (/,|\.\./.test(group)) throw new NotPlain("the brace expansion", part, group);
    const bracket = unescaped.indexOf("[");
    if (/[*?]/.test(unescaped) || (bracket >= 0 && bracket < unescaped.lastIndexOf("]")))
      throw new NotPlain("the pattern", part, part.text);
    const isTilde = part.pos === this.#word.pos && unescaped.startsWith("~");
    this.#add(
      part.value,
      isTilde ? `~${escapeActive(part.value.slice(1))}` : escapeActive(part.value),
    );
  }

  finish(): ReadWord {
    for (const end of this.#ends)
      if (!/^(?:[/:\s]|$)/.test(this.#text.slice(end, end + 1)))
        throw new NotPlain("a directory's name with text after it", this.#word);
    // A quoted `~` is no home directory, although its text is the same.
    const isLiteral = !this.#expands && !this.#text.startsWith("~");
    return { text: this.#text, expanded: isLiteral ? null : this.#spelling, isGlob: this.#isGlob };
  }

  #addQuoted(part: WordPart): void {
    if (part.type !== "Literal") this.#addExpansion(part);
    else if (QUOTED.test(dropEscaped(part.text))) this.#add(part.value, escapeActive(part.value));
    else throw new NotPlain("the word", part, part.text);
  }

  #addGlob(part: WordPart & { readonly type: "Glob" }): void {
    if (part.kind === "bracket" && part.parts.some(({ type }) => type !== "Literal"))
      throw new NotPlain("the pattern", part, part.text);
    this.#isGlob = true;
    this.#expands = true;
    this.#add(part.value, part.text);
  }

  #addExpansion(part: WordPart): void {
    const whole = this.#word.text;
    const isTop = part.text === TOP_LEVEL && (whole === TOP_LEVEL || whole === `"${TOP_LEVEL}"`);
    const directory = isTop ? "." : DIRECTORIES.get(part.text);
    if (directory === undefined && part.text !== "$?" && part.text !== `\${?}`)
      throw new NotPlain(KINDS[part.type] ?? "the word", part, part.text);
    if (directory !== undefined && !/^$|[=\s]$|^-[A-Za-z]$/.test(this.#text))
      throw new NotPlain("a directory's name in the middle of a word", part, part.text);
    this.#expands = true;
    const name = directory === "." ? "$PWD" : (directory ?? "$?");
    this.#add(directory ?? "$?", isTop ? whole : name);
    if (directory !== undefined) this.#ends.push(this.#text.length);
  }

  #add(text: string, spelling: string): void {
    this.#text += text;
    this.#spelling += spelling;
  }
}

function escapeActive(text: string): string {
  return text.replace(/[*?[\]\\~$]/g, "\\$&");
}

/** A backslash and a newline vanish, so that the characters around them may belong together. */
function dropEscaped(text: string): string {
  return text.replace(/\\(.)/gs, (_, quoted) => (quoted === "\n" ? "" : "_"));
}
