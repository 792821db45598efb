/**
 * Reads a line of POSIX shell (with the usual additions of bash) into the simple commands that it may
 * run. It executes nothing and expands nothing: it only finds out which words are surely what they seem
 * to be. What it does not understand makes the whole line unreadable.
 */
import { endOfArithmetic, endOfForHead } from "./arithmetic.ts";
import { afterBlank } from "./blank.ts";
import {
  addTarget,
  addWords,
  type CommandDraft,
  clearWords,
  commandOf,
  emptyCommand,
  mayBeGroup,
} from "./command-draft.ts";
import { hasControlLetters } from "./control-letters.ts";
import { expansionAt } from "./expansion.ts";
import { CLOSES_GROUP, type Group, OPENS_GROUP, withGroups } from "./groups.ts";
import { bodiesAt, type Heredoc } from "./heredoc.ts";
import { DEPTH_MAX, EXPANDED_MAX, LENGTH_MAX } from "./line-limits.ts";
import { ansiQuotedAt, type Quoted, singleQuotedAt } from "./quotes.ts";
import { redirectionAt } from "./redirection.ts";
import type { ShellCommand, ShellLine, ShellWord } from "./shell-line.ts";
import { ASSIGNMENT, MOMENT, RUNNING_INDEX, STRUCTURE, TIMED, UNREAD } from "./spelling.ts";
import {
  addLetter,
  addQuoted,
  addText,
  emptyWord,
  reveal,
  spelled,
  type WordDraft,
} from "./word-draft.ts";

/** Null: the text is not understood. Linear in the text for each level of nesting. */
export function parseShell(text: string): ShellLine | null {
  if (text.length > LENGTH_MAX || text.includes("\0") || hasControlLetters(text)) return null;
  const reader = new ShellReader(text);
  return reader.readLine();
}

/** A place where nothing more can be said of the line. */
class Unreadable extends Error {}

/** Owns the position in the text; every method moves it forward only. */
class ShellReader {
  readonly #text: string;
  readonly #commands: ShellCommand[] = [];
  readonly #groups: Group[] = [];
  /** Where the first command of each group stands that has not ended. */
  readonly #openGroups: number[] = [];
  readonly #heredocs: Heredoc[] = [];
  #at = 0;
  #depth = 0;
  #expanded = 0;
  #usesVariables = false;
  #usesMoment = false;
  #inBackquotes = false;
  /** A loop has a variable that may hold several words, or options. */
  #loopsOverWords = false;

  constructor(text: string) {
    this.#text = text;
  }

  readLine(): ShellLine | null {
    try {
      this.#readList();
    } catch (error) {
      if (error instanceof Unreadable) return null;
      throw error;
    }
    const commands = withGroups(this.#commands, this.#groups);
    if (commands === null) return null;
    return { commands, usesVariables: this.#usesVariables, usesMoment: this.#usesMoment };
  }

  /** Commands up to the closing character, which is taken, or to the end of the text. */
  #readList(close: ")" | "`" | "" = ""): void {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw new Unreadable();
    for (;;) {
      this.#skipBlank();
      const next = this.#peek();
      if (next === close) break;
      if (next === "" || next === ")" || this.#endsBackquotes()) throw new Unreadable();
      if (next === "\n") this.#endLine();
      else if (next === ";" || next === "&" || next === "|") this.#readOperator();
      else this.#readCommand();
    }
    if (this.#heredocs.length > 0) throw new Unreadable();
    this.#at += close.length;
    this.#depth -= 1;
  }

  #peek(ahead = 0): string {
    return this.#text.charAt(this.#at + ahead);
  }

  #starts(text: string): boolean {
    return this.#text.startsWith(text, this.#at);
  }

  #skipBlank(): void {
    this.#at = afterBlank(this.#text, this.#at);
  }

  #readOperator(): void {
    const operator = ["&&", "||", ";;", "|&", ";", "&", "|"].find((one) => this.#starts(one)) ?? "";
    // `;;` ends a branch of `case`, whose patterns are not read here.
    if (operator === ";;") throw new Unreadable();
    this.#at += operator.length;
  }

  #readCommand(): void {
    const draft = emptyCommand();
    for (;;) {
      this.#skipBlank();
      const next = this.#peek();
      if (this.#endsCommand(next)) {
        this.#finish(draft, next === "&" && this.#peek(1) !== "&");
        return;
      }
      if (next === "(") this.#readGroup(draft);
      else if (!this.#readRedirection(draft)) this.#addWord(draft, this.#readWord());
    }
  }

  #endsCommand(next: string): boolean {
    if (next === "" || next === "\n" || next === ";" || next === "|" || next === ")") return true;
    return next === "&" ? this.#peek(1) !== ">" : this.#endsBackquotes();
  }

  /** `( … )`, also behind `time`; `name()` and an array are not read. */
  #readGroup(draft: CommandDraft): void {
    if (!mayBeGroup(draft, this.#text, this.#at)) throw new Unreadable();
    clearWords(draft);
    if (this.#peek(1) === "(") this.#endOfArithmetic(this.#at);
    this.#at += 1;
    draft.encloses = this.#commands.length;
    this.#readList(")");
  }

  /** `((…))` may be groups as well, and is read as such: 0; it may set variables. */
  #endOfArithmetic(from: number): number {
    const end = endOfArithmetic(this.#text, from);
    if (end === null) throw new Unreadable();
    this.#setsVariable();
    return end;
  }

  #setsVariable(): void {
    this.#finish({ ...emptyCommand(), assignments: ["="] }, false);
  }

  #addWord(draft: CommandDraft, word: WordDraft): void {
    const { text, open } = word;
    const raw = word.raw.replaceAll("\\\n", "");
    // What structures a line does so behind `time`, too, which then is no command.
    if (draft.begins && this.#readStructure(draft, raw, text)) clearWords(draft);
    else {
      draft.begins &&= !open && TIMED.has(text);
      const both = spelled(word);
      addWords(draft, both.word, this.#counted(both.words));
    }
  }

  /** Words out of braces are more than the line has characters: of too many none are read. */
  #counted(words: readonly ShellWord[] | null): readonly ShellWord[] {
    if (words === null) throw new Unreadable();
    if (words.length > 1) for (const { text } of words) this.#expanded += text.length;
    if (this.#expanded > EXPANDED_MAX) throw new Unreadable();
    return words;
  }

  /** False where the word begins a command. */
  #readStructure(draft: CommandDraft, raw: string, text: string): boolean {
    const sets = ASSIGNMENT.test(raw);
    // The value may be evaluated wherever a number is read from the variable.
    if (UNREAD.has(raw) || (sets && RUNNING_INDEX.test(text))) throw new Unreadable();
    if (OPENS_GROUP.has(raw)) this.#openGroups.push(this.#commands.length);
    if (CLOSES_GROUP.has(raw)) draft.encloses = this.#openGroups.pop() ?? 0;
    if (raw === "for") this.#readFor();
    else if (sets) draft.assignments.push(raw);
    else return STRUCTURE.has(raw);
    return true;
  }

  /** `for name in words`, `for ((…; …; …))`. */
  #readFor(): void {
    this.#skipBlank();
    const end = endOfForHead(this.#text, this.#at);
    if (end === null) this.#readValues();
    else {
      this.#setsVariable();
      this.#readSubstituted(this.#at + 2, end - 2, end);
    }
  }

  /** The words run nothing by themselves; their substitutions are read. */
  #readValues(): void {
    for (let at = 0; ; at++) {
      this.#skipBlank();
      const next = this.#peek();
      if (next === "" || next === "\n" || next === ";") return;
      if (/[&|()<>`]/.test(next)) throw new Unreadable();
      const word = this.#readWord();
      // `for name do` goes through the arguments, and the commands come at once.
      if (at === 1 && word.raw !== "in") throw new Unreadable();
      // Variables of the environment change what commands do.
      if (at === 0 && /[A-Z]/.test(word.raw)) this.#setsVariable();
      if (at > 1) this.#addValue(word);
    }
  }

  /** A value of a loop's variable. */
  #addValue(word: WordDraft): void {
    // An expression that shells evaluate may run what stands in it.
    if (/\$\(|`/.test(word.text)) throw new Unreadable();
    const values = this.#counted(spelled(word).words);
    const isWords = values.some(({ text }) => /\s|^-/.test(text));
    this.#loopsOverWords ||= isWords || /"[^"]*[$`]/.test(word.raw);
  }

  #finish(draft: CommandDraft, background: boolean): void {
    const { inputs, encloses } = draft;
    if (encloses !== null && inputs.length > 0)
      this.#groups.push({ from: encloses, to: this.#commands.length, inputs });
    const command = commandOf(draft, background, this.#depth);
    if (command !== null) this.#commands.push(command);
  }

  /** `2>&1`, `> file`, `<< END`, `&> file`; false where none begins here. */
  #readRedirection(draft: CommandDraft): boolean {
    const { operator, end } = redirectionAt(this.#text, this.#at) ?? { operator: "", end: 0 };
    if (operator === "") return false;
    this.#at = end;
    this.#skipBlank();
    if (operator === "<<" || operator === "<<-") this.#readDelimiter(draft, operator === "<<-");
    else addTarget(draft, operator, spelled(this.#readWord()).word);
    return true;
  }

  #readDelimiter(draft: CommandDraft, tabs: boolean): void {
    const { text: delimiter, open, raw } = this.#readWord();
    if (open || delimiter === "" || /\\\n|\$'/.test(raw)) throw new Unreadable();
    this.#heredocs.push({ delimiter, quoted: raw !== delimiter, tabs });
    draft.hasText = true;
  }

  /** After a line feed come the bodies of the here-documents that the line announced. */
  #endLine(): void {
    const found = bodiesAt(this.#text, this.#at + 1, this.#heredocs.splice(0));
    if (found === null || (this.#inBackquotes && found.run.length > 0)) throw new Unreadable();
    for (const { from, to } of found.run) this.#readSubstituted(from, to);
    this.#at = found.end;
  }

  /** What is substituted must end before the place: shells disagree on where a body ends otherwise. */
  #readSubstituted(from: number, to: number, end = to): void {
    const word = emptyWord();
    this.#at = from;
    while (this.#at < to) this.#readInDouble(word);
    if (this.#at > to) throw new Unreadable();
    this.#at = end;
  }

  #readWord(): WordDraft {
    const from = this.#at;
    const word = emptyWord();
    while (this.#readPart(word));
    if (this.#at === from) throw new Unreadable();
    word.raw = this.#text.slice(from, this.#at);
    return word;
  }

  /** One piece of a word: a quoted text, an expansion, a character; false where the word ends. */
  #readPart(word: WordDraft): boolean {
    const next = this.#peek();
    if (next === "" || this.#endsBackquotes()) return false;
    if (/[\s;&|()]/.test(next)) return false;
    switch (next) {
      case "<":
      case ">":
        return this.#readProcess(word);
      case "'":
        addQuoted(word, this.#takeQuoted(singleQuotedAt(this.#text, this.#at)));
        break;
      case '"':
        this.#readDouble(word);
        break;
      case "\\":
        addQuoted(word, this.#readEscape());
        break;
      case "$":
        if (this.#starts("$'"))
          addQuoted(word, this.#takeQuoted(ansiQuotedAt(this.#text, this.#at)));
        else this.#readDollar(word);
        word.splits ||= this.#loopsOverWords || this.#text.charAt(this.#at - 1) === ")";
        break;
      case "`":
        this.#readBackquote(word);
        word.splits = true;
        break;
      default:
        addLetter(word, next);
        this.#at += 1;
    }
    return true;
  }

  /** `<( … )` and `>( … )` are words; a redirection ends the word before it. */
  #readProcess(word: WordDraft): boolean {
    if (this.#peek(1) !== "(") return false;
    reveal(word);
    word.streams = true;
    this.#at += 2;
    this.#readList(")");
    return true;
  }

  #takeQuoted(quoted: Quoted | null): string {
    if (quoted === null) throw new Unreadable();
    this.#at = quoted.end;
    return quoted.text;
  }

  #readDouble(word: WordDraft): void {
    word.isBare = false;
    this.#at += 1;
    while (this.#peek() !== '"') this.#readInDouble(word);
    this.#at += 1;
  }

  /** One piece of a text in double quotes, or of the body of a here-document. */
  #readInDouble(word: WordDraft): void {
    const next = this.#peek();
    if (next === "") throw new Unreadable();
    if (next === "$" && !/["']/.test(this.#peek(1))) this.#readDollar(word);
    else if (next === "`") this.#readBackquote(word);
    else if (next === "\\" && /["\\$`\n]/.test(this.#peek(1))) addText(word, this.#readEscape());
    else {
      addText(word, next);
      this.#at += 1;
    }
  }

  #readEscape(): string {
    const escaped = this.#peek(1);
    if (escaped === "") throw new Unreadable();
    this.#at += 2;
    return escaped === "\n" ? "" : escaped;
  }

  /** A lone dollar is itself; everything else is only known when it runs. */
  #readDollar(word: WordDraft): void {
    if (this.#starts("$(")) {
      this.#readSubstitution(word);
      return;
    }
    const expansion = expansionAt(this.#text, this.#at);
    if (expansion === null) throw new Unreadable();
    this.#at = expansion.end;
    if (expansion.name === null) addText(word, "$");
    else {
      reveal(word, expansion.name);
      word.splits ||= expansion.isList;
      if (MOMENT.has(expansion.name)) this.#usesMoment = true;
      else this.#usesVariables = true;
    }
  }

  /** `$(…)`, `$((…))`. */
  #readSubstitution(word: WordDraft): void {
    reveal(word);
    const end = this.#peek(2) === "(" ? this.#endOfArithmetic(this.#at + 1) : 0;
    if (end > 0) this.#readSubstituted(this.#at + 3, end - 2, end);
    else {
      this.#at += 2;
      this.#readList(")");
    }
  }

  /** Quotes, escapes and comments mean something else in backquotes: those lines are not read. */
  #readBackquote(word: WordDraft): void {
    reveal(word);
    const end = this.#text.indexOf("`", this.#at + 1);
    const inside = this.#text.slice(this.#at + 1, end);
    if (end < 0 || /["'\\#]/.test(inside)) throw new Unreadable();
    this.#at += 1;
    this.#inBackquotes = true;
    this.#readList("`");
    this.#inBackquotes = false;
  }

  #endsBackquotes(): boolean {
    return this.#inBackquotes && this.#peek() === "`";
  }
}
