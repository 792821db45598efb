import type { ShellWord } from "./shell-line.ts";

/** A command in the making. */
export interface CommandDraft {
  assignments: string[];
  words: ShellWord[];
  outputs: ShellWord[];
  inputs: ShellWord[];
  hasText: boolean;
  /** The next word is at the start of a command. */
  begins: boolean;
}

export function emptyCommand(): CommandDraft {
  return { assignments: [], words: [], outputs: [], inputs: [], hasText: false, begins: true };
}
