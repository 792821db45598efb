/** Forms of lines under the programs of the checkout. */
import { fileURLToPath } from "node:url";
import { loadPrograms } from "../../../services/adapters/programs/load-programs.ts";
import { type CommandForm, readCommand } from "../../../services/commands/programs/read-command.ts";
import { type PlainCommand, parseLine } from "../../../services/commands/shell/plain-line.ts";
import { readProgramFiles } from "../../../tasks/programs/read-programs.ts";

const DIRECTORY = new URL("../../../services/commands/programs/", import.meta.url);

/** Every name of every program that has a table. */
export function programNames(): readonly string[] {
  const texts = Object.entries(readProgramFiles(fileURLToPath(DIRECTORY)));
  return texts.flatMap(([key, { also = [] }]) => [
    ...key.split("|").map((name) => name.trim()),
    ...also,
  ]);
}

/** A command of literal words. */
export function commandOf(words: readonly string[], globs: readonly number[] = []): PlainCommand {
  const none = { expansions: [], assignments: [], redirections: [] };
  return { words, globs: new Set(globs), ...none, directory: "." };
}

export const formOf = (...words: readonly string[]): CommandForm =>
  readCommand(loadPrograms(), commandOf(words));

const STRICTNESS = ["read", "watch", "run", "write", "send", "unknown"] as const;

/** What a line does: the strictest of its wrappers and of what they run. */
export function doesOfLine(line: string, programs = loadPrograms()): CommandForm["does"] {
  const parsed = parseLine(line, { assignments: new Set(), startDirectory: "." });
  if (parsed.kind === "unclear") return "unknown";
  let strictest = 0;
  let next: PlainCommand | null = parsed.commands[0] ?? null;
  while (next !== null) {
    const form: CommandForm = readCommand(programs, next);
    strictest = Math.max(strictest, STRICTNESS.indexOf(form.does));
    next = form.inner;
  }
  return STRICTNESS[strictest] ?? "unknown";
}
