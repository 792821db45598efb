/** `callgate notify`: webhooks. */
import type { Command } from "commander";
import type { FailedOptions } from "../notify/failed-deliveries.ts";
import { addConfigOption, addJsonOption, type Cli, choiceOption } from "./cli.ts";

type RunOptions = {
  readonly config?: string;
  readonly dataDir?: string;
  readonly from: "start" | "end";
};
type ReadOptions = {
  readonly config?: string;
  readonly dataDir?: string;
  readonly target?: string;
  readonly json?: true;
};

const RUN_HELP = `
The configuration names who hears of what (notify.targets, docs/notify.md). Serves /livez, /readyz and
/metrics. What is not delivered when it ends is sent after the next start.

Exit codes: 0 stopped cleanly, 2 invalid configuration, 3 environment error (cluster, disk).`;

export function addNotify(program: Command, cli: Cli): void {
  const notify = program
    .command("notify")
    .description("webhooks: who hears of held calls, of how they end, and of alerts");
  addDataDir(addConfigOption(notify.command("run", { isDefault: true })))
    .description("send webhooks until stopped")
    .addOption(
      choiceOption("--from <where>", "where the first start begins to read", [
        "start",
        "end",
      ]).default("end"),
    )
    .addHelpText("after", RUN_HELP)
    .action(async ({ config, dataDir, from }: RunOptions) => {
      const { runNotify } = await import("../../notify/main.ts");
      cli.end(await runNotify({ config, dataDir, from }, cli.terminal.out));
    });
  addReading(notify.command("failed"))
    .description("list webhooks that were given up")
    .action(async (options: ReadOptions) => {
      const { listFailed } = await import("../notify/failed-deliveries.ts");
      cli.end(await listFailed(failedOf(options), cli.terminal));
    });
  addReading(notify.command("retry").argument("[number...]", "of the list; default: all"))
    .description("send webhooks again that were given up")
    .action(async (numbers: readonly string[], options: ReadOptions) => {
      const { retryFailed } = await import("../notify/failed-deliveries.ts");
      cli.end(await retryFailed(numbers, failedOf(options), cli.terminal));
    });
}

function addDataDir(command: Command): Command {
  return command.option(
    "-d, --data-dir <directory>",
    "data directory of an embedded gate, instead of a cluster",
  );
}

function addReading(command: Command): Command {
  return addJsonOption(addDataDir(addConfigOption(command))).option(
    "--target <id>",
    "only those of one target",
  );
}

function failedOf({ config, dataDir, target, json }: ReadOptions): FailedOptions {
  return { config, dataDir, target, json: json === true };
}
