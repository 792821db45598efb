import type { ShellCommand, ShellWord } from "./shell-line.ts";

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

/** Sticky. Behind `time` it makes a function in some shells; alone it is none in any. */
const EMPTY_GROUP = /\(\s*\)/y;

/** Whether the parenthesis at a place of the text begins a group: at the start of a command, or behind `time`. */
export function mayBeGroup(
  { assignments, begins }: CommandDraft,
  text: string,
  at: number,
): boolean {
  EMPTY_GROUP.lastIndex = at;
  return begins && assignments.length === 0 && !EMPTY_GROUP.test(text);
}

/** Where a redirection goes to, or comes from. */
export function addTarget(draft: CommandDraft, operator: string, target: ShellWord): void {
  if (operator === "<<<") draft.hasText = true;
  else if (operator === ">&" && /^(?:\d+|-)$/.test(target.text) && !target.open) return;
  else if (operator !== "<" && operator !== "<&") draft.outputs.push(target);
  if (operator === "<" || operator === "<>") draft.inputs.push(target);
}

/** Null: nothing is in it. `level`: in how many subshells and substitutions it stands. */
export function commandOf(
  draft: CommandDraft,
  background: boolean,
  level: number,
): ShellCommand | null {
  const { assignments, words, outputs, inputs, hasText, isBraced, expanded } = draft;
  const given = assignments.length + words.length + outputs.length + inputs.length;
  if (given === 0 && !hasText) return null;
  const command = { assignments, words, outputs, inputs, hasText, background, level };
  return isBraced ? { ...command, expanded } : command;
}
