import type { Command } from "commander";
import { usageError } from "../../process/exit-error.ts";
import { REPLAY_FORMATS, type ReplayFormat } from "../replay/replay-formats.ts";
import { addJsonOption, addPolicyOption, type Cli, choiceOption } from "./cli.ts";

interface Options {
  readonly policy: readonly string[];
  readonly format?: ReplayFormat;
  readonly json?: true;
  readonly out?: string;
  readonly feedRefused?: true;
  readonly applyStops?: true;
  readonly held: "block" | "allow";
}

const HELP = `
Each line of a FILE is one conversation: {"id": "…", "calls": [{"tool": "…", "args": {…}}]}.
Optional keys of a call: output, output_hash, is_error, turn, step, ts. Plain or gzip; - is stdin. Each
conversation starts without state. Decisions do not change the exit code: 0, or 2 if a line is invalid.`;

export function addReplay(program: Command, cli: Cli): void {
  const command = program
    .command("replay")
    .description("decide recorded conversations by a policy, without running anything")
    .argument("<file...>", "recordings, JSON Lines; - is stdin")
    .addOption(choiceOption("-f, --format <format>", "default: table", REPLAY_FORMATS))
    .option("-o, --out <file>", "write the result to a file")
    .option("--feed-refused", "feed the recorded output of refused calls to the gate, too")
    .option("--apply-stops", "let escalation stop conversations, as it does live")
    .addOption(
      choiceOption("--held <what>", "held calls stay held, or proceed as if approved", [
        "block",
        "allow",
      ]).default("block"),
    )
    .addHelpText("after", HELP);
  addJsonOption(addPolicyOption(command)).action(async (files: string[], options: Options) => {
    const { runReplay } = await import("../replay/run-replay.ts");
    const exitCode = await runReplay(
      files,
      {
        policy: options.policy,
        format: formatOf(options),
        out: options.out,
        feedRefused: options.feedRefused === true,
        applyStops: options.applyStops === true,
        heldAllow: options.held === "allow",
      },
      cli.terminal,
    );
    cli.end(exitCode);
  });
}

/** `--json` is a short form of `--format json`. */
function formatOf({ format, json }: Options): ReplayFormat {
  if (json === true && format === "table") {
    throw usageError("--json and --format table contradict each other; leave one of them out");
  }
  return format ?? (json === true ? "json" : "table");
}
