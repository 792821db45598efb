import type { Command } from "commander";
import { addConfigOption, type Cli, type ConfigOptions } from "./cli.ts";

interface Options extends ConfigOptions {
  readonly handlers?: string;
}

const HELP = `
The module exports one function for each tool, (args, { idempotencyKey, callId, decisionId, signal }) =>
result, by name or as an object \`handlers\`. A call is run at most once by the executors of one group
(executor.group); after a crash nobody knows, and the gate is told \`unknown\`. Every group reads every
allowed call: a tool that two groups have runs twice for each call, so no two may have one.
SIGTERM lets running calls end within shutdownMs.`;

export function addExecutor(program: Command, cli: Cli): void {
  const command = program
    .command("executor")
    .description("run allowed calls with the handlers of a module, and report what came of them")
    .option("--handlers <file>", "module that exports the handlers; or executor.handlers");
  addConfigOption(command)
    .addHelpText("after", HELP)
    .action(async ({ config, handlers }: Options) => {
      const { runExecutor } = await import("../../executor/main.ts");
      cli.end(await runExecutor({ config, handlers }, cli.terminal.out));
    });
}
