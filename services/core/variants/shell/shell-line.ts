/** A line of shell as it was read: the simple commands that it may run. */

/** One word after quotes are removed. */
export interface ShellWord {
  /** The literal text; expansions have left nothing in it. */
  readonly text: string;
  /** The first character comes from an expansion, a glob or braces: the word may become an option. */
  readonly startsOpen: boolean;
  /** Something in it is only known when it runs: `$name`, a glob, braces, a substitution. */
  readonly open: boolean;
  /** It may become several words, and any of them an option. */
  readonly splits: boolean;
  /** It names a stream of a command that stands in it, `<(…)`: what is read there nobody sees. */
  readonly streams: boolean;
  /** Nothing of it stands in quotes: what expands to nothing is no word. */
  readonly isBare?: boolean;
  /** Other words come in its place: those of an input, or whatever a later line says. */
  readonly given?: "input" | "line";
  /** What it is as well where it begins with `$HOME`: the same with `~`. */
  readonly inHome?: ShellWord;
}

export interface ShellCommand {
  /** `NAME=value` before the command; the whole of it where there is no command. */
  readonly assignments: readonly string[];
  readonly words: readonly ShellWord[];
  /** The words that bash makes of braces among them, where there are any. Other shells leave these as they are. */
  readonly expanded?: readonly ShellWord[];
  /** Files that output is redirected to. */
  readonly outputs: readonly ShellWord[];
  /** Files that its input comes from, also by a group around it, or by `exec`. */
  readonly inputs: readonly ShellWord[];
  /** Text in the line itself is its input: a here-document or here-string. */
  readonly hasText: boolean;
  readonly background: boolean;
  /** In how many subshells and substitutions it stands, the line itself counted. */
  readonly level: number;
}

export interface ShellLine {
  /** In the order of the text, those of substitutions and groups among them. */
  readonly commands: readonly ShellCommand[];
  /** It uses variables, so that its answer depends on what the session set before. */
  readonly usesVariables: boolean;
  /** `$?`, `$RANDOM` and the like, which differ from call to call. */
  readonly usesMoment: boolean;
}

/** Each as it is written, as bash makes it of braces, and with `~` for `$HOME`. */
export function inEachShell(commands: readonly ShellCommand[]): readonly ShellCommand[] {
  return commands.flatMap(({ expanded, ...command }) => {
    const all = expanded === undefined ? [command] : [command, { ...command, words: expanded }];
    return all.flatMap((one) => [one, ...atHome(one)]);
  });
}

function atHome(command: ShellCommand): readonly ShellCommand[] {
  const { words, inputs } = command;
  if (![...words, ...inputs].some(({ inHome }) => inHome !== undefined)) return [];
  const named = (word: ShellWord): ShellWord => word.inHome ?? word;
  return [{ ...command, words: words.map(named), inputs: inputs.map(named) }];
}

/** Where the two hyphens are after which no word is an option. */
export function endOfOptions(words: readonly ShellWord[]): number {
  const end = words.findIndex(({ text, open }) => text === "--" && !open);
  return end < 0 ? words.length : end;
}

/** Words behind the first that may be options: nothing is one after `--`, unless that may be the value of an option. */
export function optionWords(words: readonly ShellWord[]): readonly ShellWord[] {
  const end = endOfOptions(words);
  const isValue = end > 1 && words[end - 1]?.text.startsWith("-") === true;
  return words.slice(1, isValue ? undefined : end);
}

/** The words as rules know them. */
export function textOf(words: readonly ShellWord[]): string {
  return words.map(({ text }) => text).join(" ");
}

/** It may become several words, of which one could be a subcommand: a path is none, nor one more of them. */
export function mayBeMore(word: ShellWord): boolean {
  const isPath = !word.splits && !word.startsOpen && /^[./~]/.test(word.text);
  return mayBeSeveral(word) && !isPath;
}

/** It may become several words. */
export function mayBeSeveral({ text, open, splits }: ShellWord): boolean {
  return splits || (open && /[*?[{]/.test(text));
}
