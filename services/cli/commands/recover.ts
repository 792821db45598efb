/** Commands that back up state, and that continue after losing it. */
import type { Command } from "commander";
import {
  addConfigOption,
  addDataDirOption,
  addJsonOption,
  type Cli,
  DATA_DIR_ELSE,
} from "./cli.ts";

interface RecoverArguments {
  readonly config?: string;
  readonly dataDir?: string;
  readonly json?: true;
  readonly acceptLoss?: true;
  readonly by?: string;
  readonly reason?: string;
  readonly secretFile?: string;
}

const HELP = `
Reports what the journal, its head and its secret have lost, and changes nothing. With --accept-loss,
the gate continues without the lost state, and the journal records what was accepted, by whom and why.

Exit codes: 0 nothing is lost, or the loss was accepted; 1 something is lost; 2 wrong options; 3 it cannot be read.`;

export function addRecover(program: Command, cli: Cli): void {
  const command = program
    .command("recover")
    .description("report lost state, and continue without it if a person accepts the loss")
    .option("--accept-loss", "continue without the lost state")
    .option("--by <name>", "name of the person who accepts it; default: your user name")
    .option("--reason <text>", "why")
    .option("--secret-file <file>", "secret of a data directory that has none of its own");
  addJsonOption(addDataDirOption(addConfigOption(command)))
    .addHelpText("after", HELP)
    .action(async (options: RecoverArguments) => {
      const { runRecover } = await import("../cluster/recover.ts");
      const { config, dataDir, json, acceptLoss, by, reason, secretFile } = options;
      const asked = {
        ...{ config, dataDir, dataDirElse: DATA_DIR_ELSE, by, reason, secretFile },
        json: json === true,
        accept: acceptLoss === true,
      };
      cli.end(await runRecover(asked, cli.terminal));
    });
}

export function addBackup(program: Command, cli: Cli): void {
  program
    .command("backup")
    .description("copy the data directory of an embedded gate, also while it runs")
    .argument("<target>", "a new or empty directory")
    .option("-d, --data-dir <directory>", "what to copy", DATA_DIR_ELSE)
    .action(async (target: string, { dataDir }: { readonly dataDir: string }) => {
      const { runBackup } = await import("../cluster/recover.ts");
      cli.end(await runBackup(dataDir, target, cli.terminal));
    });
}
