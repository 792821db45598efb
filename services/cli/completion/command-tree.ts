/** The commands and options of the program, for completion scripts. */
import type { Command } from "commander";

export type CompletedCommand = {
  /** The command's path, `/policy/test`; empty for the program itself. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
  /** Possible values of the argument; empty: any, perhaps a file. */
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
