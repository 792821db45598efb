import type { Command } from "commander";
import { addConfigOption, type Cli, type ConfigOptions } from "./cli.ts";

const HELP = `
Reads its configuration from the file and from CALLGATE_… variables (docs/configuration.md). Serves
/livez, /readyz and /metrics. SIGTERM and SIGINT end it in order within shutdownMs, a second one at once;
SIGHUP loads the policy again.

Exit codes: 0 stopped in order, 2 wrong configuration or policy, 3 the cluster is in the way.`;

export function addGate(program: Command, cli: Cli): void {
  const command = program
    .command("gate")
    .description("run the gate on a Kafka cluster: proposals in, decisions out");
  addConfigOption(command)
    .addHelpText("after", HELP)
    .action(async ({ config }: ConfigOptions) => {
      const { runGate } = await import("../../gate/main.ts");
      cli.end(await runGate(config, cli.terminal.out));
    });
}
