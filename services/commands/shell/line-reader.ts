/** Splits the syntax tree of a line into plain commands, and follows `cd` through it. */
import { CommandDraft, type Piece } from "./command-draft.ts";
import { joinPath } from "./directory.ts";
import { NotPlain } from "./not-plain.ts";
import type { LineOptions, PlainCommand } from "./plain-command.ts";
import { TOP_LEVEL } from "./read-word.ts";
import type { Command, Statement } from "./syntax-tree.ts";
import type { Span, Token } from "./unread-text.ts";

/** Where the shell may be: several directories where a `cd` may have failed. */
type Directories = readonly string[];

/** Where the shell may be after a command that succeeded, and after one that failed. */
interface Ends {
  readonly succeeded: Directories;
  readonly failed: Directories;
}

type Node = Statement["command"];

/**
 * The work for a line grows with its words, so this bound limits a line of 64 KB to less than 20
 * ms.
 */
const WORDS_MAX = 4_096;
const COMMANDS_MAX = 500;
const DIRECTORIES_MAX = 4;

const NODES: Partial<Record<Node["type"], string>> = {
  If: "a conditional",
  For: "a loop",
  ArithmeticFor: "a loop",
  While: "a loop",
  Select: "a loop",
  Case: "a conditional",
  Function: "a function",
  Coproc: "a background job",
  TestCommand: "a conditional expression",
  ArithmeticCommand: "arithmetic",
};

/** Each instance reads one line. Its methods throw NotPlain. */
export class LineReader {
  readonly commands: PlainCommand[] = [];
  readonly joints: string[] = [];
  /** The parts of the text that commands and joints account for. */
  readonly tokens: Token[] = [];
  /** The bodies of here-documents. */
  readonly documents: Span[] = [];
  readonly #assignable: ReadonlySet<string>;
  #words = 0;
  /** Commands and redirections so far, each counted once for every directory. */
  #judged = 0;

  constructor({ assignments }: LineOptions) {
    this.#assignable = assignments;
  }

  readList(statements: readonly Statement[], start: Directories): Ends {
    let ends = stay(start);
    for (const [index, statement] of statements.entries()) {
      if (statement.background === true) throw new NotPlain("a background job", statement);
      if (index > 0) this.#addOperator(";");
      ends = this.#readNode(statement.command, unite(ends.succeeded, ends.failed));
    }
    return ends;
  }

  #readNode(node: Node, start: Directories): Ends {
    if (node.type === "Command") return this.#readCommand(node, start);
    if (node.type === "AndOr") return this.#readAndOr(node, start);
    if (node.type === "Pipeline") return this.#readPipeline(node, start);
    if (node.type === "Subshell") return this.#readGroup("()", node.body.commands, start);
    if (node.type === "BraceGroup") return this.#readGroup("{}", node.body.commands, start);
    if (node.type !== "Redirected") throw new NotPlain(NODES[node.type] ?? "a command", node);
    // The redirections of a group are listed as those of a command that does nothing.
    const ends = this.#readNode(node.command, start);
    this.joints.push(">");
    this.#addCommand(node.redirects, ":", node, start);
    return ends;
  }

  #readAndOr(node: Node & { readonly type: "AndOr" }, start: Directories): Ends {
    let ends: Ends = { succeeded: start, failed: [] };
    for (const [index, command] of node.commands.entries()) {
      const operator = node.operators[index - 1];
      if (operator !== undefined) this.#addOperator(operator);
      const { succeeded, failed } = ends;
      const isOr = operator === "||";
      const next = this.#readNode(command, isOr ? failed : succeeded);
      ends = isOr
        ? { succeeded: unite(succeeded, next.succeeded), failed: next.failed }
        : { succeeded: next.succeeded, failed: unite(failed, next.failed) };
    }
    return ends;
  }

  #readPipeline(node: Node & { readonly type: "Pipeline" }, start: Directories): Ends {
    let isNegated = false;
    for (const prefix of node.prefixes) {
      this.tokens.push({ kind: "word", pos: prefix.pos, end: prefix.end });
      this.joints.push(prefix.type === "Negation" ? "!" : "time");
      if (prefix.type === "Negation") isNegated = !isNegated;
    }
    let ends = stay(start);
    for (const [index, command] of node.commands.entries()) {
      const operator = node.operators[index - 1];
      if (operator !== undefined) this.#addOperator(operator);
      ends = this.#readNode(command, start);
    }
    // Each command of a pipeline runs in a shell of its own.
    if (node.commands.length > 1) return stay(start);
    return isNegated ? { succeeded: ends.failed, failed: ends.succeeded } : ends;
  }

  #readGroup(signs: "()" | "{}", body: readonly Statement[], start: Directories): Ends {
    this.#addOperator(signs.charAt(0));
    const ends = this.readList(body, start);
    this.#addOperator(signs.charAt(1));
    return signs === "()" ? stay(start) : ends;
  }

  #readCommand(node: Command, start: Directories): Ends {
    const name = node.name === undefined ? [] : [node.name];
    const pieces: readonly Piece[] = [...node.prefix, ...name, ...node.suffix];
    const program = node.name === undefined ? ":" : null;
    const { words, expansions } = this.#addCommand(pieces, program, node, start);
    if (words[0] !== "cd") return stay(start);
    const [to = "~", ...more] = words.slice(1);
    if (more.length > 0 || /^-|[*?[]/.test(to))
      throw new NotPlain("a change of directory that is not plain", node);
    const top = expansions.find((word) => word.includes(TOP_LEVEL));
    if (top === undefined)
      return { succeeded: start.map((from) => joinPath(from, to)), failed: start };
    if (start.some((from) => /^[/~]|^\.\./.test(from)))
      throw new NotPlain("a change of directory that is not plain", node);
    // Outside a repository the substitution is empty: `cd ""` stays, `cd` goes home.
    const tops = top.startsWith('"') ? ["."] : [".", "~"];
    return { succeeded: unite(tops, start), failed: start };
  }

  /** Adds a command once for each directory that the shell may be in. */
  #addCommand(
    pieces: readonly Piece[],
    program: string | null,
    node: Span,
    directories: Directories,
  ): Omit<PlainCommand, "directory"> {
    if (directories.length > DIRECTORIES_MAX)
      throw new NotPlain("a command that may run in many directories", node);
    const draft = new CommandDraft(program);
    for (const piece of pieces) {
      this.#words += piece.type === "Word" ? (piece.parts?.length ?? 1) : 1;
      if (this.#words > WORDS_MAX) throw new NotPlain(`more than ${WORDS_MAX} words`, node);
      this.#addSpan(piece);
      draft.add(piece, this.#assignable);
    }
    const command = draft.finish(node);
    this.#judged += directories.length * (1 + command.redirections.length);
    if (this.#judged > COMMANDS_MAX)
      throw new NotPlain(`more than ${COMMANDS_MAX} commands and redirections`, node);
    for (const directory of directories) this.commands.push({ ...command, directory });
    return command;
  }

  #addOperator(text: string): void {
    this.tokens.push({ kind: "operator", text });
    this.joints.push(text);
  }

  #addSpan(piece: Piece): void {
    const { type, pos, end } = piece;
    const kind = type === "Word" || type === "Assignment" ? "word" : "redirection";
    this.tokens.push({ kind, pos, end });
    if (type !== "HereDoc") return;
    if (piece.closing === undefined) throw new NotPlain("a here-document without an end", piece);
    this.documents.push({ pos: piece.body.pos, end: piece.closing.end });
  }
}

function stay(directories: Directories): Ends {
  return { succeeded: directories, failed: directories };
}

function unite(some: Directories, others: Directories): Directories {
  return some === others ? some : [...new Set([...some, ...others])];
}
