/** Collects the words, assignments and redirections of one command. */
import type { Span } from "./coverage.ts";
import { joinPath } from "./directory.ts";
import { NotPlain } from "./not-plain.ts";
import type { PlainCommand } from "./plain-command.ts";
import { readLiteral, readWord, TOP_LEVEL } from "./read-word.ts";
import type { Assignment, HereDoc, Redirect, Redirection, Word } from "./syntax-tree.ts";

export type Part = Assignment | Redirection | Word;

type Assigned = PlainCommand["assignments"][number];
type Redirected = PlainCommand["redirections"][number];

/** Builtins after which words, names or the directory are not what they seem. */
const CHANGES_SHELL =
  /^(?:alias|bind|builtin|declare|enable|eval|getopts|hash|let|local|mapfile|popd|pushd|read|readarray|readonly|shopt|trap|typeset|unalias|unset)$/;

/** Variables that change what is run, or what the accepted expansions mean. */
const DANGEROUS =
  /^(?:PATH|HOME|PWD|OLDPWD|IFS|CDPATH|ENV|GLOBIGNORE|PROMPT_COMMAND|PS\d|NODE_PATH|\w*_OPTIONS|\w*PAGER|\w*EDITOR|(?:BASH|DYLD|GIT|LD|PERL5?|PYTHON|RUBY|SHELL)\w*)$/;

/** Whether a line may never assign the variable, whatever a policy says. */
export function isDangerousVariable(name: string): boolean {
  return DANGEROUS.test(name);
}

export class CommandDraft {
  readonly words: string[] = [];
  readonly #globs = new Set<number>();
  readonly #expansions: string[] = [];
  readonly #assignments: Assigned[] = [];
  readonly #redirections: Redirected[] = [];
  readonly #channels: string[] = [];
  readonly #inputs: string[] = [];

  /** `program`: that of a command that is written without one. */
  constructor(program: string | null) {
    if (program !== null) this.words.push(program);
  }

  add(part: Part, assignable: ReadonlySet<string>): void {
    if (part.type === "Word") this.#addWord(part);
    else if (part.type === "Assignment") this.#addAssignment(part, assignable);
    else if (part.type === "Redirect") this.#addRedirect(part);
    else if (part.type === "HereDoc") this.#inputs.push(readDocument(part));
    else this.#inputs.push(readTarget(part));
  }

  finish(node: Span): Omit<PlainCommand, "directory"> {
    const [program = "", first = ""] = this.words;
    if (program === "" || this.#globs.has(0)) throw new NotPlain("a program without a name", node);
    if (program === ":" && this.#assignments.length > 0)
      throw new NotPlain("an assignment that stays", node);
    if (CHANGES_SHELL.test(program) || (program === "command" && !/^-[vV]$/.test(first)))
      throw new NotPlain("a builtin that changes the shell,", node, program);
    if (program !== "cd" && this.#expansions.some((word) => word.includes(TOP_LEVEL)))
      throw new NotPlain("the command substitution", node, TOP_LEVEL);
    return {
      words: this.words,
      globs: this.#globs,
      expansions: this.#expansions,
      assignments: this.#assignments,
      redirections: this.#redirections,
      channels: this.#channels,
      inputs: this.#inputs,
    };
  }

  #addWord(word: Word): void {
    const { text, expanded, isGlob } = readWord(word);
    if (isGlob) this.#globs.add(this.words.length);
    if (expanded !== null) this.#expansions.push(expanded);
    this.words.push(text);
  }

  #addAssignment(part: Assignment, assignable: ReadonlySet<string>): void {
    const { name, value, append, index } = part;
    const isPlain = value.type === "Word" && append !== true && index === undefined;
    if (!isPlain || isDangerousVariable(name) || !assignable.has(name))
      throw new NotPlain("the assignment", part, part.text);
    const [program] = this.words;
    if (program === undefined) this.#assignments.push({ name, value: readLiteral(value) });
    else if (program === "export") this.words.push(`${name}=${readLiteral(value)}`);
    else throw new NotPlain("the assignment", part, part.text);
  }

  #addRedirect(part: Redirect): void {
    const { operator, descriptor } = part;
    if (descriptor?.type === "FileDescriptorVariable")
      throw new NotPlain("a descriptor in a variable", part);
    const path = readTarget(part);
    const from = descriptor?.value ?? (operator.startsWith("<") ? 0 : 1);
    this.#channels.push(`${from}${operator === ">|" ? ">" : operator}${path}`);
    const isCopy = operator === ">&" || operator === "<&";
    if (isCopy && /^(?:\d+-?|-)$/.test(path)) return;
    if (operator === "<&" || path === "") throw new NotPlain("the redirection", part, path);
    if (/^\/dev\/(?:tcp|udp)\//.test(joinPath("/", path)))
      throw new NotPlain("the network connection", part, path);
    if (/^\/dev\/(?:null|std(?:in|out|err)|fd\/\d+)$/.test(path)) return;
    this.#redirections.push({ path, access: operator === "<" ? "read" : "write" });
  }
}

/** @throws NotPlain where the file or text is not literal */
function readTarget({ target, ...part }: Exclude<Redirection, HereDoc>): string {
  if (target === undefined) throw new NotPlain("a redirection to nothing", part);
  return readLiteral(target);
}

/** The text of a here-document, which is data only where nothing in it is expanded. */
function readDocument(part: HereDoc): string {
  const { body, delimiter, operator } = part;
  if (delimiter === undefined || (!delimiter.quoted && /[$`\\]/.test(body.text)))
    throw new NotPlain("a here-document with expansions (quote its delimiter)", part);
  return operator === "<<-" ? body.text.replace(/^\t+/gm, "") : body.text;
}
