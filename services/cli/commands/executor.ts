import type { Command } from "commander";
import { addConfigOption, type Cli, type ConfigOptions } from "./cli.ts";

interface Options extends ConfigOptions {
  readonly handlers?: string;
}

const HELP = `
The module exports one function for each tool, (args, { idempotencyKey, callId, decisionId, signal }) =>
result, by name or as an object \`handlers\`. Executors of one group (executor.group) start a
call at most once; after a crash its outcome is reported as \`unknown\`. Every group reads every allowed
call, so a tool must have a handler in one group only: two groups would both run it.
SIGTERM lets running calls end within shutdownMs.`;

export function addExecutor(program: Command, cli: Cli): void {
  const command = program
    .command("executor")
    .description("run allowed calls with the handlers of a module, and report their results")
    .option("--handlers <file>", "module that exports the handlers; or executor.handlers");
  addConfigOption(command)
    .addHelpText("after", HELP)
    .action(async ({ config, handlers }: Options) => {
      const { runExecutor } = await import("../../executor/main.ts");
      cli.end(await runExecutor({ config, handlers }, cli.terminal.out));
    });
}
