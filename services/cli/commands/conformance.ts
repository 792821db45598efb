/** Commands that test programs of others against the protocol. */
import type { Command } from "commander";
import { addConfigOption, addJsonOption, type Cli } from "./cli.ts";

interface ConformanceArguments {
  readonly config?: string;
  readonly command: string;
  readonly rule?: readonly string[];
  readonly json?: true;
}

const HELP = `
Creates topics of its own on the cluster of the configuration, starts the command with the variables
of docs/executor-protocol.md, publishes calls as a gate would, kills the executor with SIGKILL at each
step and starts it again. Prints one row for each rule, and the verdict as the last line.

Exit codes: 0 conformant, 1 a rule is broken, 2 wrong options, 3 environment error (cluster, command).`;

export function addConformance(program: Command, cli: Cli): void {
  const conformance = program
    .command("conformance")
    .description("test a program in any language against a protocol of Callgate");
  const command = conformance
    .command("executor")
    .description("kill an executor at each step, and check that no effect happens twice")
    .requiredOption("--command <line>", "shell line that starts the executor in the foreground")
    .option("--rule <id...>", "only these rules");
  addJsonOption(addConfigOption(command))
    .addHelpText("after", HELP)
    .action(async ({ config, command: line, rule, json }: ConformanceArguments) => {
      const { usageError } = await import("../../process/exit-error.ts");
      const { RULES, runConformance } = await import("../conformance/run-conformance.ts");
      const ids = RULES.map(({ id }) => id);
      const unknown = (rule ?? []).filter((one) => !ids.includes(one));
      if (unknown.length > 0) {
        throw usageError(`no rule ${unknown.join(", ")}: the rules are ${ids.join(", ")}`);
      }
      const asked = { config, command: line, rules: rule ?? [], json: json === true };
      cli.end(await runConformance(asked, cli.terminal));
    });
}
