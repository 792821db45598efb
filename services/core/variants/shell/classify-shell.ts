/** The class of a whole line of POSIX shell: that of its strictest command. */
import { strictestOf, type VariantClass } from "../variant-class.ts";
import { dependsOnDirectory } from "./directory.ts";
import { Effort } from "./effort.ts";
import { parseShell } from "./parse-shell.ts";
import { type CommandReading, readCommands } from "./shell-class.ts";
import type { ShellCommand } from "./shell-line.ts";

export interface ShellOptions {
  /** Lines share one shell: directory and variables of one line hold for the next. Default true. */
  readonly session: boolean;
}

/** One simple command of the line, and what it runs. */
export type ShellPart = CommandReading;

/** Null: the line could not be read, so it is a write. Empty lines have no parts. */
export function partsOfShell(line: string, { session }: ShellOptions): readonly ShellPart[] | null {
  const read = parseShell(line);
  if (read === null || read.commands.some(hidesCommand)) return null;
  const anchored = isAnchored(read.commands);
  const commands = anchored ? read.commands.slice(1) : read.commands;
  const moves =
    read.usesMoment ||
    (session && (read.usesVariables || (!anchored && commands.some(dependsOnDirectory))));
  const effort = new Effort();
  // What is anchored is gone from there: its `cd` changes nothing, and says where the others stand.
  const parts = readCommands(read.commands, effort).slice(anchored ? 1 : 0);
  if (effort.isSpent) return null;
  return parts.map((part) => (part.class === "read" && moves ? { ...part, class: "watch" } : part));
}

/** The line's class; a line without a command waits for output, which differs each time. */
export function classifyShell(line: string, options: ShellOptions): VariantClass {
  const parts = partsOfShell(line, options);
  if (parts === null) return "write";
  return parts.length === 0 ? "watch" : strictestOf(parts.map((part) => part.class));
}

/** What runs is only known when it runs. `[` alone looks like a glob and is none. */
function hidesCommand({ words }: ShellCommand): boolean {
  const [first] = words;
  return first?.open === true && first.text !== "[" && first.text !== "[[";
}

/** `cd /somewhere && …`: what follows does not depend on where the session is. */
function isAnchored(commands: readonly ShellCommand[]): boolean {
  const [first] = commands;
  if (first === undefined || commands.length < 2) return false;
  const [name, directory] = first.words;
  const plain = first.words.length === 2 && first.outputs.length === 0 && !first.background;
  if (!plain || first.assignments.length > 0 || name?.text !== "cd" || name.open) return false;
  return directory !== undefined && !directory.open && directory.text.startsWith("/");
}
