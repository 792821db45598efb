/** What one simple command of a shell line is, by its name, its options and where its output goes. */
import { strictest, strictestOf, type VariantClass } from "../variant-class.ts";
import { classifyCommand } from "./commands.ts";
import type { ShellCommand, ShellWord } from "./shell-line.ts";

/** Targets that hold nothing. */
const NOWHERE = new Set(["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"]);

/** Variables that change how output looks and nothing else. */
const HARMLESS_ASSIGNMENT =
  /^(?:LANG|LC_[A-Z]+|TZ|TERM|COLUMNS|LINES|NO_COLOR|CI|PYTHONDONTWRITEBYTECODE|(?:GIT_|MAN)?PAGER=cat$)/;

/** Files that grow or change without any call: logs, and what the kernel shows. */
const MOVING = /^\/(?:proc|sys|dev(?!\/null)|var\/log)(?:\/|$)|\.log$/;

export function classOfCommand(command: ShellCommand): VariantClass {
  const { words, outputs, assignments, background, hasText } = command;
  const written = outputs.some(({ text, open }) => open || !NOWHERE.has(text));
  const classes: VariantClass[] = [written ? "write" : "read", classOfWords(words)];
  // What is set stays set for the lines after it, and may change what a command does.
  if (!assignments.every((one) => HARMLESS_ASSIGNMENT.test(one))) classes.push("run");
  if (background) classes.push("run");
  if (words.some(({ text }) => MOVING.test(text))) classes.push("watch");
  const found = strictestOf(classes);
  // A program that stands in the line itself: equal lines are equal programs.
  return hasText && found === "run" ? "write" : found;
}

/** Commands that run another one, with how many words of their own stand before it. */
const WRAPPERS: Readonly<Record<string, (words: readonly ShellWord[]) => number | null>> = {
  time: (words) => (words[1]?.text === "-p" ? 2 : 1),
  nice: (words) => (words[1]?.text === "-n" ? 3 : 1),
  builtin: () => 1,
  command: () => 1,
  busybox: () => 1,
  sudo: () => 1,
  stdbuf: (words) => skipOptions(words, 1),
  timeout: (words) => {
    const duration = skipOptions(words, 1);
    return /^\d+(?:\.\d+)?[smhd]?$/.test(words[duration]?.text ?? "") ? duration + 1 : null;
  },
  env: (words) => {
    let at = 1;
    while (/^[A-Za-z_]\w*=/.test(words[at]?.text ?? "")) at += 1;
    return at;
  },
};

/** Options that carry their value in the same word. */
function skipOptions(words: readonly ShellWord[], from: number): number {
  let at = from;
  while (/^-/.test(words[at]?.text ?? "")) at += 1;
  return at;
}

function classOfWords(words: readonly ShellWord[]): VariantClass {
  const [first] = words;
  if (first === undefined) return "read";
  const { text } = first;
  // The command itself is only known when it runs. `[` alone looks like a glob and is none.
  if (first.open && text !== "[" && text !== "[[") return "write";
  if (text === "xargs") return classOfXargs(words);
  const wrapper = Object.hasOwn(WRAPPERS, text) ? WRAPPERS[text] : undefined;
  if (wrapper === undefined) return classifyCommand(words);
  const own = wrapper(words);
  return own === null ? "write" : classOfWrapped(text, own, words.slice(own));
}

function classOfWrapped(wrapper: string, own: number, inner: readonly ShellWord[]): VariantClass {
  const [command] = inner;
  if (command === undefined) return wrapper === "env" || wrapper === "time" ? "read" : "run";
  // `command -v` only tells what a name means.
  if (wrapper === "command" && /^-[vV]$/.test(command.text)) return "read";
  if (command.text.startsWith("-")) return "write";
  const found = classOfWords(inner);
  // `env` with variables changes what the inner command does.
  return wrapper === "env" && own > 1 ? strictest("run", found) : found;
}

const XARGS_FLAGS = /^-(?:0|r|t|[nLP]\d+|[dI].+)$/;
const XARGS_VALUES = new Set(["-n", "-L", "-P", "-d", "-I"]);

/** What it runs gets words that nobody has seen: they may be options. */
function classOfXargs(words: readonly ShellWord[]): VariantClass {
  let at = 1;
  for (;;) {
    const word = words[at]?.text ?? "";
    if (XARGS_VALUES.has(word)) at += 2;
    else if (XARGS_FLAGS.test(word)) at += 1;
    else break;
  }
  const inner = words.slice(at);
  if (inner.length === 0) return "read";
  if (/^-/.test(inner[0]?.text ?? "")) return "write";
  return classOfWords([...inner, { text: "", startsOpen: true, open: true }]);
}
