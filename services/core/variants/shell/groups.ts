/** Files that the input of commands comes from although they do not stand at them: at a group around, or at `exec`. */
import { type ShellCommand, type ShellWord, textOf } from "./shell-line.ts";

/** The commands from one place to another (which is behind the last) have these inputs, too. */
export interface Group {
  readonly from: number;
  readonly to: number;
  readonly inputs: readonly ShellWord[];
}

/** Words that begin a group, and those that end one. */
export const OPENS_GROUP = new Set("{ if while until for".split(" "));
export const CLOSES_GROUP = new Set("} fi done".split(" "));

/** Groups in groups may each have a file; more for one command are not looked through. */
const GIVEN_MAX = 8;

/** Null: a command has too many. Of which group it takes its input nobody says: all of them count. */
export function withGroups(
  commands: readonly ShellCommand[],
  groups: readonly Group[],
): readonly ShellCommand[] | null {
  const all = [...groups, ...commands.filter(redirectsShell).map(toAll(commands.length))];
  if (all.length === 0) return commands;
  const given = commands.map((): ShellWord[] => []);
  for (const { from, to, inputs } of all) {
    for (const own of given.slice(from, to)) {
      if (own.push(...inputs) > GIVEN_MAX) return null;
    }
  }
  return commands.map((command, at) => {
    const more = (given[at] ?? []).filter((one) => !command.inputs.includes(one));
    return more.length === 0 ? command : { ...command, inputs: [...command.inputs, ...more] };
  });
}

/** `exec < file`: also what stands before it in a loop reads the file. */
function toAll(to: number): (command: ShellCommand) => Group {
  return ({ inputs }) => ({ from: 0, to, inputs });
}

const EXEC = /^(?:(?:command|builtin|time|-[a-z-]*) )*exec(?: -\S*)*$/;

function redirectsShell({ words, inputs }: ShellCommand): boolean {
  return inputs.length > 0 && isExec(words);
}

/** `exec` without a command. */
export function isExec(words: readonly ShellWord[]): boolean {
  return words.length < 8 && EXEC.test(textOf(words));
}
