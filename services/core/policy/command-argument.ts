import type { CommandsDocument } from "./document.ts";

const ARGUMENTS = {
  shell: "command",
  git: "command",
  sql: "query",
  http: "method",
  files: "path",
} as const;

/** The argument that says what a call does. */
export function commandArgument({ language = "shell", argument }: CommandsDocument): string {
  return argument ?? ARGUMENTS[language];
}
