/** What every command receives, and options that commands share. */
import { type Command, Option } from "commander";
import type { ExitCode } from "../../process/exit-error.ts";
import type { Terminal } from "../output/terminal.ts";

export interface Cli {
  readonly terminal: Terminal;
  /** Sets the exit code of a command that completed. */
  readonly end: (code: ExitCode) => void;
}

/** `--policy P`, once or more: several files are merged. */
export function addPolicyOption(command: Command, need?: "optional"): Command {
  const option = new Option("-p, --policy <file>", "policy file; several are merged")
    .argParser((path: string, earlier: readonly string[] | undefined) => [...(earlier ?? []), path])
    .makeOptionMandatory(need !== "optional");
  return command.addOption(option);
}

export interface ConfigOptions {
  readonly config?: string;
}

export function addConfigOption(command: Command): Command {
  return command.option("-c, --config <file>", "configuration, YAML or JSON; or CALLGATE_CONFIG");
}

/** The embedded data directory for commands without a configured one and without a cluster. */
export const DATA_DIR_ELSE = ".callgate";

export function addDataDirOption(command: Command): Command {
  return command.option(
    "-d, --data-dir <directory>",
    `data directory of an embedded gate; default if no brokers are configured: ${DATA_DIR_ELSE}`,
  );
}

export function addJsonOption(command: Command): Command {
  return command.option("--json", "print JSON, for programs");
}

export function choiceOption(
  flags: string,
  description: string,
  choices: readonly string[],
): Option {
  return new Option(flags, description).choices([...choices]);
}
