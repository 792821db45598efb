/**
 * Completion scripts. Each contains the whole command tree, so that completing starts no process.
 */
import type { Command } from "commander";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

const NAME = "callgate";

export function renderCompletion(tree: readonly CompletedCommand[], shell: Shell): string {
  switch (shell) {
    case "bash":
      return bash(tree);
    case "zsh":
      return zsh(tree);
    case "fish":
      return fish(tree);
  }
}

/** All command paths; every line starts at the program itself. */
function pathsOf(tree: readonly CompletedCommand[]): readonly string[] {
  return tree.map(({ path }) => path).filter((path) => path !== "");
}

function spellings({ short, long }: CompletedOption): readonly string[] {
  return short === null ? [long] : [short, long];
}

/** After such an option comes its value: one of its choices, or what the shell completes. */
function valueCases(
  tree: readonly CompletedCommand[],
  body: (choices: readonly string[]) => string,
): string {
  return tree
    .flatMap(({ path, options }) =>
      options
        .filter(({ takesValue }) => takesValue)
        .map((option) => {
          const patterns = spellings(option).map((text) => `"${path} ${text}"`);
          return `    ${patterns.join("|")}) ${body(option.choices)} ;;\n`;
        }),
    )
    .join("");
}

function wordsOf({ subcommands, options, words }: CompletedCommand): readonly string[] {
  return [...subcommands.map(({ name }) => name), ...words, ...options.map(({ long }) => long)];
}

function bash(tree: readonly CompletedCommand[]): string {
  const cases = tree
    .map((command) => `    "${command.path}") words="${wordsOf(command).join(" ")}" ;;\n`)
    .join("");
  return `# Completion of ${NAME} for bash. Use: source <(${NAME} completion bash)
_${NAME}() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" at="" words="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at/$word" in
      ${pathsOf(tree).join("|")}) at="$at/$word" ;;
    esac
  done
  case "$at $prev" in
${valueCases(tree, (choices) => `COMPREPLY=($(compgen -W "${choices.join(" ")}" -- "$cur")); return`)}  esac
  case "$at" in
${cases}  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _${NAME} ${NAME}
`;
}

function zsh(tree: readonly CompletedCommand[]): string {
  const cases = tree
    .map((command) => {
      const candidates = [
        ...command.subcommands.map(({ name, description }) => [name, description] as const),
        ...command.words.map((word) => [word, ""] as const),
        ...command.options.map(({ long, description }) => [long, description] as const),
      ];
      const items = candidates.map(([name, text]) => quoted(`${colons(name)}:${text}`, "'\\''"));
      return `    "${command.path}") candidates=(${items.join(" ")}) ;;\n`;
    })
    .join("");
  const values = valueCases(tree, (choices) =>
    choices.length === 0 ? "_files; return" : `compadd -- ${choices.join(" ")}; return`,
  );
  return `#compdef ${NAME}
# Completion of ${NAME} for zsh. Use: source <(${NAME} completion zsh)
_${NAME}() {
  local at="" word
  local -a candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at/$word" in
      ${pathsOf(tree).join("|")}) at="$at/$word" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${values}  esac
  case "$at" in
${cases}  esac
  _describe ${NAME} candidates
  _files
}
compdef _${NAME} ${NAME}
`;
}

function fish(tree: readonly CompletedCommand[]): string {
  const lines = tree.flatMap(({ path, subcommands, options, words }) => {
    const start = `complete -c ${NAME} -n '__${NAME}_at "${path}"'`;
    const said = (text: string): string => `-d ${quoted(text, "\\'")}`;
    return [
      ...subcommands.map(({ name, description }) => `${start} -a ${name} ${said(description)}`),
      ...words.map((word) => `${start} -a ${word}`),
      ...options.map((option) => {
        const short = option.short === null ? "" : ` -s ${option.short.slice(1)}`;
        const choices = option.choices.length === 0 ? "" : ` -x -a '${option.choices.join(" ")}'`;
        const value = option.takesValue && choices === "" ? " -r" : choices;
        return `${start}${short} -l ${option.long.slice(2)}${value} ${said(option.description)}`;
      }),
    ];
  });
  return `# Completion of ${NAME} for fish. Use: ${NAME} completion fish | source
function __${NAME}_at
    set -l words (commandline -opc)
    set -e words[1]
    set -l at ""
    for word in $words
        switch "$at/$word"
            case ${pathsOf(tree).join(" ")}
                set at "$at/$word"
        end
    end
    test "$at" = "$argv[1]"
end
${lines.join("\n")}
`;
}

/** Single-quotes the text; `quote` is how the shell writes a quote inside. */
function quoted(text: string, quote: string): string {
  const safe = quote === "\\'" ? text.replaceAll("\\", "\\\\") : text;
  return `'${safe.replaceAll("'", quote)}'`;
}

function colons(name: string): string {
  return name.replaceAll(":", "\\:");
}

type CompletedCommand = {
  /** The command's path, `/policy/test`; empty for the program itself. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
  /** Possible values of the argument; empty: any, perhaps a file. */
  readonly words: readonly string[];
};

type CompletedOption = {
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
