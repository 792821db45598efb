/** The commands that run the processes of a cluster, and that show their configuration. */
import type { Command } from "commander";
import { EXIT_OK } from "../../process/exit-error.ts";
import { addConfigOption, addJsonOption, type Cli, type ConfigOptions } from "./cli.ts";

const GATE_HELP = `
Reads its configuration from the file and from CALLGATE_… variables (docs/configuration.md). Serves
/livez, /readyz and /metrics. SIGTERM or SIGINT stops it cleanly within shutdownMs, a second signal at
once; SIGHUP reloads the policy.

Exit codes: 0 stopped cleanly, 2 invalid configuration or policy, 3 environment error (cluster, disk).`;

export function addGate(program: Command, cli: Cli): void {
  const command = program
    .command("gate")
    .description("run the gate on a Kafka cluster: proposals in, decisions out");
  addConfigOption(command)
    .addHelpText("after", GATE_HELP)
    .action(async ({ config }: ConfigOptions) => {
      const { runGate } = await import("../../gate/main.ts");
      cli.end(await runGate(config, cli.terminal.out));
    });
}

interface ExecutorOptions extends ConfigOptions {
  readonly handlers?: string;
}

const EXECUTOR_HELP = `
The module exports one function per tool, (args, { idempotencyKey, callId, decisionId, signal }) =>
result, by name or in an object \`handlers\`. Executors of one group (executor.group) start a call at
most once; after a crash its outcome is reported as \`unknown\`. Every group reads every allowed call, so
only one group may have a handler for a tool: two groups would both run it.
SIGTERM waits for running calls, at most shutdownMs.`;

export function addExecutor(program: Command, cli: Cli): void {
  const command = program
    .command("executor")
    .description("run allowed calls with the handlers of a module, and report their results")
    .option("--handlers <file>", "module that exports the handlers; or executor.handlers");
  addConfigOption(command)
    .addHelpText("after", EXECUTOR_HELP)
    .action(async ({ config, handlers }: ExecutorOptions) => {
      const { runExecutor } = await import("../../executor/main.ts");
      cli.end(await runExecutor({ config, handlers }, cli.terminal.out));
    });
}

export function addConfig(program: Command, cli: Cli): void {
  const config = program.command("config").description("check and print the configuration");
  const print = config
    .command("print")
    .description("check the configuration and print every key, secrets masked");
  addJsonOption(addConfigOption(print)).action(async (options: ConfigOptions & { json?: true }) => {
    const { openConfig } = await import("../../process/open-config.ts");
    const { maskedConfig } = await import("../../adapters/config/masked-config.ts");
    const { writeYaml } = await import("../../adapters/policy/write-yaml.ts");
    const shown = maskedConfig(openConfig(options.config, []));
    await cli.terminal.out.write(options.json ? `${JSON.stringify(shown)}\n` : writeYaml(shown));
    cli.end(EXIT_OK);
  });
}
