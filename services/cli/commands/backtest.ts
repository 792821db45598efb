import { type Command, Option } from "commander";
import {
  addConfigOption,
  addDataDirOption,
  addJsonOption,
  addPolicyOption,
  type Cli,
  DATA_DIR_ELSE,
} from "./cli.ts";

interface Options {
  readonly config?: string;
  readonly dataDir?: string;
  readonly policy?: readonly string[];
  readonly candidate: readonly string[];
  readonly allowChanges?: true;
  readonly json?: true;
}

const HELP = `
Without FILE, a recorded journal is decided again in its order: that of the brokers in the
configuration, or of an embedded gate (--data-dir; ${DATA_DIR_ELSE} if no brokers are configured). The
candidate's decisions are compared with the recorded ones, or with those of --policy. With FILE,
recordings as for \`replay\` go through both policies.

A call that only the candidate allows has no recorded result. Changes that follow from it in the same
conversation are counted; \`first\` counts only the first change of each conversation.

Exit codes: 0 nothing changed (or --allow-changes), 1 decisions changed, 2 invalid policy or line.`;

export function addBacktest(program: Command, cli: Cli): void {
  const command = program
    .command("backtest")
    .description("decide recorded calls by another policy, and show what changes")
    .argument("[file...]", "recordings, JSON Lines; - is stdin")
    .addOption(
      new Option("--candidate <file>", "the other policy; several files are merged")
        .argParser((path: string, earlier: readonly string[] | undefined) => [
          ...(earlier ?? []),
          path,
        ])
        .makeOptionMandatory(),
    )
    .option("--allow-changes", "exit with 0 even where decisions changed")
    .addHelpText("after", HELP);
  const described = addPolicyOption(addConfigOption(addDataDirOption(command)), "optional");
  addJsonOption(described).action(async (files: string[], options: Options) => {
    const { runBacktest } = await import("../backtest/run-backtest.ts");
    const { config, dataDir, policy, candidate } = options;
    const allowChanges = options.allowChanges === true;
    const json = options.json === true;
    const source = { config, dataDir, dataDirElse: DATA_DIR_ELSE };
    const asked = { files, ...source, policy: policy ?? [], candidate, allowChanges, json };
    cli.end(await runBacktest(asked, cli.terminal));
  });
}
