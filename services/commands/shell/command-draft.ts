/** Collects the words, assignments and redirections of one command. */

import { joinPath } from "./directory.ts";
import { NotPlain } from "./not-plain.ts";
import type { PlainCommand } from "./plain-command.ts";
import { readLiteral, readWord, TOP_LEVEL } from "./read-word.ts";
import type { Assignment, HereDoc, Redirect, Redirection, Word } from "./syntax-tree.ts";
import type { Span } from "./unread-text.ts";

/** A word of a command, or something between its words. */
export type Piece = Assignment | Redirection | Word;

/** Builtins after which words, names or the directory no longer mean what they seem to. */
const CHANGES_SHELL =
  /^(?:alias|bind|builtin|declare|enable|eval|getopts|hash|let|local|mapfile|popd|pushd|read|readarray|readonly|shopt|trap|typeset|unalias|unset)$/;

/** Variables that change which program runs, or what the accepted expansions mean. */
const DANGEROUS =
  /^(?:PATH|HOME|PWD|OLDPWD|IFS|CDPATH|ENV|GLOBIGNORE|PROMPT_COMMAND|PS\d|NODE_PATH|\w*_OPTIONS|\w*PAGER|\w*EDITOR|(?:BASH|DYLD|GIT|LD|PERL5?|PYTHON|RUBY|SHELL)\w*)$/;

/** Whether a line may never assign the variable, whatever a policy says. */
export function isDangerousVariable(name: string): boolean {
  return DANGEROUS.test(name);
}

/** Every method throws NotPlain where the command is not plain. */
export class CommandDraft {
  readonly words: string[] = [];
  readonly globs = new Set<number>();
  readonly expansions: string[] = [];
  readonly assignments: { readonly name: string; readonly value: string }[] = [];
  readonly redirections: PlainCommand["redirections"][number][] = [];

  /** `program`: the program of a command that is written without one. */
  constructor(program: string | null) {
    if (program !== null) this.words.push(program);
  }

  add(piece: Piece, assignable: ReadonlySet<string>): void {
    if (piece.type === "Word") this.#addWord(piece);
    else if (piece.type === "Assignment") this.#addAssignment(piece, assignable);
    else if (piece.type === "Redirect") this.#addRedirect(piece);
    else {
      const text = piece.type === "HereDoc" ? readDocument(piece) : readTarget(piece);
      this.redirections.push({ text: `<<${text}`, path: null, access: "read" });
    }
  }

  finish(node: Span): Omit<PlainCommand, "directory"> {
    const { words, globs, expansions, assignments, redirections } = this;
    const [program = "", first = ""] = words;
    if (program === "" || globs.has(0)) throw new NotPlain("a program without a name", node);
    if (program === ":" && assignments.length > 0)
      throw new NotPlain("an assignment that stays", node);
    if (CHANGES_SHELL.test(program) || (program === "command" && !/^-[vV]$/.test(first)))
      throw new NotPlain("a builtin that changes the shell,", node, program);
    if (program !== "cd" && expansions.some((word) => word.includes(TOP_LEVEL)))
      throw new NotPlain("the command substitution", node, TOP_LEVEL);
    return { words, globs, expansions, assignments, redirections };
  }

  #addWord(word: Word): void {
    const { text, expanded, isGlob } = readWord(word);
    if (isGlob) this.globs.add(this.words.length);
    if (expanded !== null) this.expansions.push(expanded);
    this.words.push(text);
  }

  #addAssignment(piece: Assignment, assignable: ReadonlySet<string>): void {
    const { name, value, append, index } = piece;
    const isPlain = value.type === "Word" && append !== true && index === undefined;
    if (!isPlain || isDangerousVariable(name) || !assignable.has(name))
      throw new NotPlain("the assignment", piece, piece.text);
    const [program] = this.words;
    if (program === undefined) this.assignments.push({ name, value: readLiteral(value) });
    else if (program === "export") this.words.push(`${name}=${readLiteral(value)}`);
    else throw new NotPlain("the assignment", piece, piece.text);
  }

  #addRedirect(piece: Redirect): void {
    const { operator, descriptor } = piece;
    if (descriptor?.type === "FileDescriptorVariable")
      throw new NotPlain("a descriptor in a variable", piece);
    const path = readTarget(piece);
    const from = descriptor?.value ?? (operator.startsWith("<") ? 0 : 1);
    const isDuplication = operator === ">&" || operator === "<&";
    const isCopy = isDuplication && /^(?:\d+-?|-)$/.test(path);
    // Bash expands this target twice: in `>&'$(a)'` it runs `a` (seen in Bash 5.2).
    const isFile = isDuplication ? operator === ">&" && /^[\w./-]+$/.test(path) : path !== "";
    if (!isCopy && !isFile) throw new NotPlain("the redirection", piece, path);
    if (/^\/dev\/(?:tcp|udp)\//.test(joinPath("/", path)))
      throw new NotPlain("the network connection", piece, path);
    const isStream = /^\/dev\/(?:null|std(?:in|out|err)|fd\/\d+)$/.test(path);
    this.redirections.push({
      text: `${from}${operator === ">|" ? ">" : operator}${path}`,
      path: isCopy || isStream ? null : path,
      access: operator === "<" ? "read" : "write",
    });
  }
}

/** @throws NotPlain where the file or text is not literal */
function readTarget({ target, ...piece }: Exclude<Redirection, HereDoc>): string {
  if (target === undefined) throw new NotPlain("a redirection to nothing", piece);
  return readLiteral(target);
}

/** The text of a here-document, which is data only where the shell expands nothing in it. */
function readDocument(piece: HereDoc): string {
  const { body, delimiter, operator } = piece;
  if (delimiter === undefined || (!delimiter.quoted && /[$`\\]/.test(body.text)))
    throw new NotPlain("a here-document with expansions (quote its delimiter)", piece);
  return operator === "<<-" ? body.text.replace(/^\t+/gm, "") : body.text;
}
