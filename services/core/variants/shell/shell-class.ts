/** What one simple command of a shell line is, by its name, its options and where its output goes. */
import { strictest, strictestOf, type VariantClass } from "../variant-class.ts";
import { classifyCommand } from "./commands.ts";
import { ranByFind } from "./find.ts";
import { parseShell } from "./parse-shell.ts";
import type { Ran } from "./ran.ts";
import { ranBy } from "./ran-commands.ts";
import { type ShellCommand, type ShellWord, textOf } from "./shell-line.ts";
import { spellSubcommand } from "./spell-subcommand.ts";

/** Targets that hold nothing. */
const NOWHERE = new Set(["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"]);

/** Variables that change how output looks and nothing else. */
const HARMLESS_ASSIGNMENT =
  /^(?:LANG|LC_[A-Z]+|TZ|TERM|COLUMNS|LINES|NO_COLOR|CI|PYTHONDONTWRITEBYTECODE)=|^(?:GIT_|MAN)?PAGER=cat$/;

/** Files that grow or change without any call: logs, and what the kernel shows. */
const MOVING = /^\/(?:proc|sys|dev(?!\/null)|var\/log)(?:\/|$)|\.log$/;

/** What one command is, and what rules may know it by. */
export interface CommandReading {
  readonly class: VariantClass;
  /** Its words, joined by single spaces; then without options before the subcommand, of the commands that it runs, and with the files that its input comes from. */
  readonly texts: readonly string[];
  /** Something that nobody sees may run, too. */
  readonly hidden: boolean;
  /** What it is beside its words: by where its output goes, variables before it, the background. */
  readonly beside: VariantClass;
}

/** Lines in lines in lines. */
const DEPTH_MAX = 8;

export function readCommand(command: ShellCommand, depth = 0): CommandReading {
  const { words, outputs, inputs, assignments, background, hasText } = command;
  const written = outputs.some(({ text, open }) => open || !NOWHERE.has(text));
  const sets = !assignments.every((one) => HARMLESS_ASSIGNMENT.test(one));
  // What is set stays set for the lines after it, and may change what a command does.
  const beside = written ? "write" : sets || background ? "run" : "read";
  const read = readWords(words, depth);
  const given = inputs.length > 0 ? withInputs(command, depth) : [];
  const moves = [...words, ...inputs].some(({ text }) => MOVING.test(text)) ? "watch" : "read";
  const found = strictestOf([beside, read.class, moves]);
  // A program that stands in the line itself: equal lines are equal programs.
  const own = hasText && found === "run" ? "write" : found;
  return { ...read, texts: [...read.texts, ...given], class: own, beside };
}

/** Lines of the file become words of commands: the file itself is none. */
const TAKES_LINES = /^(?:xargs|parallel)$/;

/** What `cat < a` reads, it reads as `cat a`. */
function withInputs({ words, inputs }: ShellCommand, depth: number): readonly string[] {
  const isFile = words.length > 0 && !words.some(({ text }) => TAKES_LINES.test(text));
  if (isFile) return readWords([...words, ...inputs], depth).texts;
  return [`${textOf(words)} ${textOf(inputs)}`];
}

type WordsReading = Omit<CommandReading, "beside">;

function readWords(words: readonly ShellWord[], depth: number): WordsReading {
  const [first] = words;
  const text = textOf(words);
  if (first === undefined) return { class: "read", texts: [text], hidden: false };
  // The command itself is only known when it runs. `[` alone looks like a glob and is none.
  if (first.open && first.text !== "[" && first.text !== "[[") {
    return { class: "write", texts: [text], hidden: true };
  }
  const slash = first.text.lastIndexOf("/");
  if (slash >= 0) return readByName(words, slash, depth);
  const ran = first.text === "find" ? ranByFind(words) : ranBy(words);
  if (ran === null) {
    const { texts, hidden } = spellSubcommand(words);
    return { class: classifyCommand(words), texts: [text, ...texts], hidden };
  }
  return depth >= DEPTH_MAX ? UNREAD : withRan(text, ran, depth + 1);
}

const UNREAD: WordsReading = { class: "write", texts: [], hidden: true };

/** Where the programs of a system lie, so that the name says what it does. */
const SYSTEM = /^\/(?:.*\/)?s?bin\/[^/]+$/;

/** A program by its path may be any; rules know it by its name, too. */
function readByName(words: readonly ShellWord[], slash: number, depth: number): WordsReading {
  const [first, ...rest] = words as readonly [ShellWord, ...ShellWord[]];
  const named = readWords([{ ...first, text: first.text.slice(slash + 1) }, ...rest], depth);
  const found = SYSTEM.test(first.text) ? strictest("run", named.class) : "run";
  return { class: found, texts: [textOf(words), ...named.texts], hidden: named.hidden };
}

function withRan(
  text: string,
  { floor, commands, lines, hidden }: Ran,
  depth: number,
): WordsReading {
  const inner: WordsReading[] = commands.map((words) => readWords(words, depth));
  for (const line of lines) {
    const read = parseShell(line);
    // With a part that is not seen, it need not be the line that runs.
    if (read === null) inner.push(hidden ? { ...UNREAD, class: "run" } : UNREAD);
    else inner.push(...read.commands.map((command) => readCommand(command, depth)));
  }
  return {
    class: strictestOf([floor, ...inner.map((one) => one.class)]),
    texts: [text, ...inner.flatMap((one) => one.texts)],
    hidden: hidden || inner.some((one) => one.hidden),
  };
}
