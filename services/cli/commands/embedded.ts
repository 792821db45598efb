/** Commands that run an embedded gate: the demo, and the gate for JSON lines. */
import type { Command } from "commander";
import { addJsonOption, addPolicyOption, type Cli, type ConfigOptions } from "./cli.ts";

const DEMO_HELP = `
With --config, the gate of that cluster decides; it must use the policy infra/policies/demo.yaml, and an
executor with infra/handlers/demo-world.mjs must run the calls. \`npm run demo:kafka\` starts all of them.
Exit code 1: a decision was not the expected one.`;

export function addDemo(program: Command, cli: Cli): void {
  const command = program
    .command("demo")
    .description("watch the gate decide calls of a misbehaving agent; takes seconds");
  type DemoOptions = ConfigOptions & { readonly json?: true };
  const described = command.option(
    "-c, --config <file>",
    "play on the cluster of this configuration",
  );
  addJsonOption(described)
    .addHelpText("after", DEMO_HELP)
    .action(async ({ config, json }: DemoOptions) => {
      if (config !== undefined) {
        const { runClusterDemo } = await import("../demo/run-cluster-demo.ts");
        return cli.end(await runClusterDemo(config, json === true, cli.terminal));
      }
      const { runDemo } = await import("../demo/run-demo.ts");
      cli.end(await runDemo(json === true, cli.terminal));
    });
}

interface DevOptions {
  readonly policy: readonly string[];
  readonly dataDir: string;
  readonly in: string;
  readonly stay?: true;
}

const DEV_HELP = `
One JSON object per line:
  {"conversationId": "c1", "turn": 1, "step": 1, "callId": "a", "tool": "get_order", "arguments": {"order_id": "7"}}
  {"conversationId": "c1", "turn": 1, "step": 1, "callId": "a", "status": "succeeded", "output": {"total": 3}}
A result may name its call by \`decisionId\` instead. Each line gets one line of output. For an invalid
line its type is "error", and the command exits with 2 unless --stay was given. The first SIGINT or
SIGTERM finishes the work in progress, the second exits at once.`;

export function addDev(program: Command, cli: Cli): void {
  const dev = program
    .command("dev")
    .description("run the gate: proposals and results in, decisions out, as JSON lines");
  addPolicyOption(dev)
    .option("-d, --data-dir <directory>", "where to store the log", ".callgate")
    .option("-i, --in <file>", "read the lines from a file; - is stdin", "-")
    .option("--stay", "continue after the end of the input, until stopped")
    .option("--json", "no effect: the output is always JSON")
    .addHelpText("after", DEV_HELP)
    .action(async ({ policy, dataDir, in: input, stay }: DevOptions) => {
      const { runDev } = await import("../dev/run-dev.ts");
      cli.end(await runDev({ policy, dataDir, input, stay: stay === true }, cli.terminal));
    });
}
