import { classifyGit } from "./shell/git.ts";
import { parseShell } from "./shell/parse-shell.ts";
import type { VariantClass } from "./variant-class.ts";

/** The arguments of one git command, with or without the word `git` before them. */
export function classifyGitLine(line: string): VariantClass {
  const read = parseShell(line);
  const [command] = read?.commands ?? [];
  if (read === null || command === undefined || read.commands.length > 1) return "write";
  if (command.outputs.length > 0 || command.assignments.length > 0) return "write";
  const { words } = command;
  return classifyGit(words[0]?.text === "git" ? words : [GIT, ...words]);
}

const GIT = { text: "git", open: false, startsOpen: false, splits: false, streams: false };
