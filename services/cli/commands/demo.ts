import type { Command } from "commander";
import { addJsonOption, type Cli, type ConfigOptions } from "./cli.ts";

const HELP = `
With --config it asks the gate of that cluster, which decides by infra/policies/demo.yaml, and an executor
with infra/handlers/demo-world.mjs runs the calls; \`npm run demo:kafka\` starts all of it. Exit code 1: a
call was decided otherwise than it should.`;

export function addDemo(program: Command, cli: Cli): void {
  const command = program
    .command("demo")
    .description("watch the gate decide calls of a misbehaving agent; takes seconds");
  type Options = ConfigOptions & { readonly json?: true };
  const described = command.option(
    "-c, --config <file>",
    "play on the cluster of this configuration",
  );
  addJsonOption(described)
    .addHelpText("after", HELP)
    .action(async ({ config, json }: Options) => {
      if (config !== undefined) {
        const { runClusterDemo } = await import("../demo/run-cluster-demo.ts");
        return cli.end(await runClusterDemo(config, json === true, cli.terminal));
      }
      const { runDemo } = await import("../demo/run-demo.ts");
      cli.end(await runDemo(json === true, cli.terminal));
    });
}
