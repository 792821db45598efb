/**
 * Reads a line of POSIX shell (with the usual additions of bash) into the simple commands that it may
 * run. It executes nothing and expands nothing: it only finds out which words are surely what they seem
 * to be. What it does not understand makes the whole line unreadable.
 */
import { type CommandDraft, emptyCommand } from "./command-draft.ts";
import { hasControlLetters } from "./control-letters.ts";
import { endOfBody, type Heredoc } from "./heredoc.ts";
import type { ShellCommand, ShellLine, ShellWord } from "./shell-line.ts";
import {
  ARITHMETIC,
  ASSIGNMENT,
  BRACED,
  MOMENT,
  NAME,
  OPEN_OPTION,
  RUNNING_INDEX,
  STRUCTURE,
  TIMED,
  UNREAD,
} from "./spelling.ts";
import { emptyWord, reveal, type WordDraft } from "./word-draft.ts";

/** Substitutions and groups inside of each other. */
const DEPTH_MAX = 16;

/** Longest line that is read, in characters. */
const LENGTH_MAX = 65_536;

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
  readonly #heredocs: Heredoc[] = [];
  #at = 0;
  #depth = 0;
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
    return {
      commands: this.#commands,
      usesVariables: this.#usesVariables,
      usesMoment: this.#usesMoment,
    };
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

  /** White space, line continuations and comments. */
  #skipBlank(): void {
    for (;;) {
      const next = this.#peek();
      if (next === " " || next === "\t" || next === "\r") this.#at += 1;
      else if (next === "\\" && this.#peek(1) === "\n") this.#at += 2;
      else if (next === "#" && this.#atWordStart()) {
        const end = this.#text.indexOf("\n", this.#at);
        this.#at = end < 0 ? this.#text.length : end;
      } else return;
    }
  }

  #atWordStart(): boolean {
    return this.#at === 0 || /[\s;&|()`]/.test(this.#text.charAt(this.#at - 1));
  }

  #readOperator(): void {
    const operator = ["&&", "||", ";;", "|&", ";", "&", "|"].find((one) => this.#starts(one)) ?? "";
    // `;;` ends a branch of `case`, whose patterns are not read here.
    if (operator === ";;") throw new Unreadable();
    this.#at += operator.length;
  }

  #readCommand(): void {
    const draft = emptyCommand();
    let background = false;
    for (;;) {
      this.#skipBlank();
      const next = this.#peek();
      if (this.#endsCommand(next)) {
        background = next === "&" && this.#peek(1) !== "&";
        break;
      }
      if (next === "(") {
        if (!this.#readGroup(draft)) throw new Unreadable();
      } else if (!this.#readRedirection(draft)) this.#addWord(draft, this.#readWord());
    }
    this.#finish(draft, background);
  }

  #endsCommand(next: string): boolean {
    if (next === "" || next === "\n" || next === ";" || next === "|" || next === ")") return true;
    return next === "&" ? this.#peek(1) !== ">" : this.#endsBackquotes();
  }

  /** `( … )`; `name()` and an array are not read. */
  #readGroup(draft: CommandDraft): boolean {
    if (draft.words.length > 0 || draft.assignments.length > 0) return false;
    if (this.#peek(1) === "(") this.#readArithmetic(this.#at);
    this.#at += 1;
    this.#readList(")");
    return true;
  }

  /** `((…))` may be groups as well, and is read as such; it may set variables. */
  #readArithmetic(from: number): void {
    ARITHMETIC.lastIndex = from;
    if (!ARITHMETIC.test(this.#text)) throw new Unreadable();
    this.#setsVariable();
  }

  #setsVariable(): void {
    this.#finish({ ...emptyCommand(), assignments: ["="] }, false);
  }

  #addWord(draft: CommandDraft, word: WordDraft): void {
    const { text, open, splits, streams } = word;
    const raw = word.raw.replaceAll("\\\n", "");
    const startsOpen = word.startsOpen || splits || (open && OPEN_OPTION.test(text));
    // What structures a line does so behind `time`, too, which then is no command.
    if (draft.begins && this.#readStructure(draft, raw, text)) draft.words = [];
    else {
      draft.begins &&= !open && TIMED.has(text);
      draft.words.push({ text, startsOpen, open, splits, streams });
    }
  }

  /** False where the word begins a command. */
  #readStructure(draft: CommandDraft, raw: string, text: string): boolean {
    const sets = ASSIGNMENT.test(raw);
    // The value may be evaluated wherever a number is read from the variable.
    if (UNREAD.has(raw) || (sets && RUNNING_INDEX.test(text))) throw new Unreadable();
    if (raw === "for") this.#readFor();
    else if (sets) draft.assignments.push(raw);
    else return STRUCTURE.has(raw);
    return true;
  }

  /** `for name in words`: the words run nothing by themselves; their substitutions are read. */
  #readFor(): void {
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
  #addValue({ text, raw }: WordDraft): void {
    // An expression that shells evaluate may run what stands in it.
    if (/\$\(|`/.test(text)) throw new Unreadable();
    this.#loopsOverWords ||= /\s|^-/.test(text) || /"[^"]*[$`]/.test(raw);
  }

  #finish(draft: CommandDraft, background: boolean): void {
    const { assignments, words, outputs, inputs, hasText } = draft;
    const given = assignments.length + words.length + outputs.length + inputs.length;
    if (given > 0 || hasText)
      this.#commands.push({ assignments, words, outputs, inputs, hasText, background });
  }

  /** `2>&1`, `> file`, `<< END`, `&> file`; false where none begins here. */
  #readRedirection(draft: CommandDraft): boolean {
    const digits = /\d+(?=[<>])/y;
    digits.lastIndex = this.#at;
    const descriptor = digits.exec(this.#text)?.[0] ?? "";
    const from = this.#at + descriptor.length;
    const operator = ["&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">"].find(
      (one) => this.#text.startsWith(one, from),
    );
    const isProcess = /^[<>]\(/.test(this.#text.slice(from, from + 2));
    if (operator === undefined || isProcess) return false;
    this.#at = from + operator.length;
    this.#skipBlank();
    if (operator === "<<" || operator === "<<-") this.#readDelimiter(draft, operator === "<<-");
    else this.#addTarget(draft, operator, this.#readWord());
    return true;
  }

  #addTarget(draft: CommandDraft, operator: string, target: ShellWord): void {
    if (operator === "<<<") draft.hasText = true;
    else if (operator === ">&" && /^(?:\d+|-)$/.test(target.text) && !target.open) return;
    else if (operator !== "<" && operator !== "<&") draft.outputs.push(target);
    if (operator === "<" || operator === "<>") draft.inputs.push(target);
  }

  #readDelimiter(draft: CommandDraft, tabs: boolean): void {
    const { text: delimiter, open, raw } = this.#readWord();
    if (open || delimiter === "" || raw.includes("\\\n")) throw new Unreadable();
    this.#heredocs.push({ delimiter, quoted: raw !== delimiter, tabs });
    draft.hasText = true;
  }

  /** After a line feed come the bodies of the here-documents that the line announced. */
  #endLine(): void {
    this.#at += 1;
    for (const heredoc of this.#heredocs.splice(0)) {
      const end = endOfBody(this.#text, this.#at, heredoc);
      if (end === null) throw new Unreadable();
      this.#at = end;
    }
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
        word.text += this.#readSingle();
        break;
      case '"':
        this.#readDouble(word);
        break;
      case "\\":
        word.text += this.#readEscape();
        break;
      case "$":
        this.#readDollar(word);
        word.splits ||= this.#loopsOverWords || this.#text.charAt(this.#at - 1) === ")";
        break;
      case "`":
        this.#readBackquote(word);
        word.splits = true;
        break;
      default:
        if (/[*?[{]/.test(next)) reveal(word);
        word.text += next;
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

  #readSingle(): string {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end < 0) throw new Unreadable();
    const inside = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    return inside;
  }

  #readDouble(word: WordDraft): void {
    this.#at += 1;
    for (;;) {
      const next = this.#peek();
      if (next === "") throw new Unreadable();
      if (next === '"') break;
      if (next === "$" && !/["']/.test(this.#peek(1))) this.#readDollar(word);
      else if (next === "`") this.#readBackquote(word);
      else if (next === "\\" && /["\\$`\n]/.test(this.#peek(1))) word.text += this.#readEscape();
      else {
        word.text += next;
        this.#at += 1;
      }
    }
    this.#at += 1;
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
      reveal(word);
      if (this.#peek(2) === "(") this.#readArithmetic(this.#at + 1);
      this.#at += 2;
      // `$((…))` is read as a group in a substitution: its words are no commands, and count as such.
      this.#readList(")");
      return;
    }
    // The quotes of bash; or a dollar and, on the next line, what it is a dollar of.
    if (/^\$(?:["'[]|\\\n)/.test(this.#text.slice(this.#at, this.#at + 3))) throw new Unreadable();
    const name = this.#starts("${") ? this.#readBraced() : this.#readName();
    if (name === null) {
      word.text += "$";
      return;
    }
    reveal(word);
    if (MOMENT.has(name)) this.#usesMoment = true;
    else this.#usesVariables = true;
  }

  /** Takes `$name`; null, and takes the dollar alone, where no name follows. */
  #readName(): string | null {
    NAME.lastIndex = this.#at + 1;
    const name = NAME.exec(this.#text)?.[0] ?? this.#peek(1);
    const isName = /^[\w?!$@*#-]/.test(name);
    this.#at += isName ? 1 + name.length : 1;
    return isName ? name : null;
  }

  #readBraced(): string {
    BRACED.lastIndex = this.#at;
    const [inside, name] = BRACED.exec(this.#text) ?? [];
    if (inside === undefined || name === undefined) throw new Unreadable();
    // `${name:=value}` and `${name@P}` do more than read.
    if (/[=@]/.test(inside.slice(2 + name.length))) throw new Unreadable();
    this.#at += inside.length;
    return name;
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
