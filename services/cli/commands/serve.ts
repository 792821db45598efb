import type { Command } from "commander";
import { addConfigOption, addPolicyOption, type Cli, type ConfigOptions } from "./cli.ts";

const HELP = `
  callgate serve --policy policy.yaml
  curl -s localhost:8181/v1/proposals -H 'Content-Type: application/json' \\
    -d '{"conversationId": "c-1", "callId": "a", "tool": "get_order", "arguments": {"order_id": "7"}}'

With brokers in the configuration and no --data-dir it is a client of the gate on Kafka. On a loopback
address, requests without a token may propose, report and read; answering held calls always needs one.
docs/http.md describes every endpoint. SIGTERM answers what is in flight, then stops.`;

interface ServeCommand extends ConfigOptions {
  readonly policy?: readonly string[];
  readonly dataDir?: string;
  readonly listen: string;
}

export function addServe(program: Command, cli: Cli): void {
  const command = program
    .command("serve")
    .description("run the gate as an HTTP server, for programs in any language");
  addConfigOption(addPolicyOption(command, "optional"))
    .option("-d, --data-dir <directory>", "where to store the log; default: .callgate")
    .option("-l, --listen <address>", "host and port; port 0: any free one", "127.0.0.1:8181")
    .addHelpText("after", HELP)
    .action(async ({ policy = [], dataDir, config, listen }: ServeCommand) => {
      const { runServe } = await import("../../serve/main.ts");
      cli.end(await runServe({ policy, dataDir, config, listen }, cli.terminal));
    });
}
