import type { Command } from "commander";
import { addPolicyOption, type Cli } from "./cli.ts";

interface Options {
  readonly policy: readonly string[];
  readonly dataDir: string;
  readonly in: string;
  readonly stay?: true;
}

const HELP = `
One JSON object a line:
  {"conversationId": "c1", "turn": 1, "step": 1, "callId": "a", "tool": "get_order", "arguments": {"order_id": "7"}}
  {"conversationId": "c1", "turn": 1, "step": 1, "callId": "a", "status": "succeeded", "output": {"total": 3}}
A result may name its call by \`decisionId\` instead. Each line gives one line of output, also
one that cannot be used: then its type is "error", and the command exits with 2 unless --stay was
given. The first SIGINT or SIGTERM finishes what is under way, the second ends at once.`;

export function addDev(program: Command, cli: Cli): void {
  const dev = program
    .command("dev")
    .description("run the gate: proposals and results in, decisions out, as JSON lines");
  addPolicyOption(dev)
    .option("-d, --data-dir <directory>", "where the log is kept", ".callgate")
    .option("-i, --in <file>", "read the lines from a file; - is stdin", "-")
    .option("--stay", "go on after the end of the input, until stopped")
    .option("--json", "decisions are printed as JSON in any case")
    .addHelpText("after", HELP)
    .action(async ({ policy, dataDir, in: input, stay }: Options) => {
      const { runDev } = await import("../dev/run-dev.ts");
      cli.end(await runDev({ policy, dataDir, input, stay: stay === true }, cli.terminal));
    });
}
