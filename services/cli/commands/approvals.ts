import type { Command } from "commander";
import { addJsonOption, type Cli } from "./cli.ts";

interface ListOptions {
  readonly dataDir: string;
  readonly json?: true;
}

interface VerdictOptions extends ListOptions {
  readonly by?: string;
  readonly reason?: string;
}

export function addApprovals(program: Command, cli: Cli): void {
  const approvals = program
    .command("approvals")
    .description("see and answer calls that wait for a person, also while a gate is running");
  const list = approvals.command("list").description("calls that wait");
  addJsonOption(addDataDir(list)).action(async ({ dataDir, json }: ListOptions) => {
    const { listApprovals } = await import("../approvals/list-approvals.ts");
    cli.end(await listApprovals(dataDir, json === true, cli.terminal));
  });
  addVerdict(approvals, "approve", "let a held call run, after it was checked again", cli);
  addVerdict(approvals, "deny", "refuse a held call for good", cli);
}

function addVerdict(
  approvals: Command,
  kind: "approve" | "deny",
  description: string,
  cli: Cli,
): void {
  const command = approvals
    .command(kind)
    .description(description)
    .argument("<approval>", "its id, or enough of the beginning (see: approvals list)")
    .option("--by <name>", "who says so; default: the user of this process")
    .option("--reason <text>", "why");
  addJsonOption(addDataDir(command)).action(async (id: string, options: VerdictOptions) => {
    const { giveVerdict } = await import("../approvals/give-verdict.ts");
    const { dataDir, by, reason } = options;
    const json = options.json === true;
    cli.end(await giveVerdict({ kind, id, dataDir, by, reason, json }, cli.terminal));
  });
}

function addDataDir(command: Command): Command {
  return command.option("-d, --data-dir <directory>", "data directory of the gate", ".callgate");
}
