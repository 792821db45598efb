import type { ShellWord } from "./shell-line.ts";

/** A command in the making. */
export interface CommandDraft {
  assignments: string[];
  words: ShellWord[];
  /** The same, as bash makes them of braces. */
  expanded: ShellWord[];
  isBraced: boolean;
  outputs: ShellWord[];
  inputs: ShellWord[];
  hasText: boolean;
  /** The next word is at the start of a command. */
  begins: boolean;
  /** Where the first command of the group stands that ends here, if one does. */
  encloses: number | null;
}

export function emptyCommand(): CommandDraft {
  return {
    assignments: [],
    words: [],
    expanded: [],
    isBraced: false,
    outputs: [],
    inputs: [],
    hasText: false,
    begins: true,
    encloses: null,
  };
}

/** A word as it is written, and what bash makes of it. */
export function addWords(draft: CommandDraft, word: ShellWord, made: readonly ShellWord[]): void {
  draft.words.push(word);
  for (const one of made) draft.expanded.push(one);
  draft.isBraced ||= made[0] !== word;
}

export function clearWords(draft: CommandDraft): void {
  draft.words = [];
  draft.expanded = [];
  draft.isBraced = false;
}

/** Where a redirection goes to, or comes from. */
export function addTarget(draft: CommandDraft, operator: string, target: ShellWord): void {
  if (operator === "<<<") draft.hasText = true;
  else if (operator === ">&" && /^(?:\d+|-)$/.test(target.text) && !target.open) return;
  else if (operator !== "<" && operator !== "<&") draft.outputs.push(target);
  if (operator === "<" || operator === "<>") draft.inputs.push(target);
}
