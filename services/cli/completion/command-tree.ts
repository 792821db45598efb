/** The commands and options of the program, as completions need them. */
import type { Command } from "commander";

export type CompletedCommand = {
  /** Names from the program down, `/policy/test`; the program itself is the empty text. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
  /** Words that an argument may be; empty: any, a file perhaps. */
  readonly words: readonly string[];
};

export type CompletedOption = {
  readonly short: string | null;
  readonly long: string;
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
};

export function commandTree(program: Command): readonly CompletedCommand[] {
  return walk(program, "");
}

function walk(command: Command, path: string): readonly CompletedCommand[] {
  const { commands, options, registeredArguments } = command;
  const own: CompletedCommand = {
    path,
    subcommands: commands.map((one) => ({ name: one.name(), description: one.description() })),
    options: options.flatMap((option) => {
      if (option.long === undefined || option.long === null) return [];
      return {
        short: option.short ?? null,
        long: option.long,
        description: option.description,
        takesValue: option.required || option.optional,
        choices: option.argChoices ?? [],
      };
    }),
    words: registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
  };
  return [own, ...commands.flatMap((one) => walk(one, `${path}/${one.name()}`))];
}
