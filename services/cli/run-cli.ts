/** From arguments to an exit code: the whole command line except ending the process. */
import { Command, CommanderError } from "commander";
import { quoteTicks } from "../core/hidden-text.ts";
import { EXIT_OK, EXIT_USAGE, type ExitCode } from "../process/exit-error.ts";
import { addAnalytics } from "./commands/analytics.ts";
import { addApprovals, addCalls, addConversations } from "./commands/approvals.ts";
import { addBacktest } from "./commands/backtest.ts";
import type { Cli } from "./commands/cli.ts";
import { addCluster } from "./commands/cluster.ts";
import { addCompletion } from "./commands/completion.ts";
import { addConformance } from "./commands/conformance.ts";
import { addDemo, addDev } from "./commands/embedded.ts";
import { addNotify } from "./commands/notify.ts";
import { addPolicy } from "./commands/policy.ts";
import { addConfig, addExecutor, addGate } from "./commands/processes.ts";
import { addBackup, addRecover } from "./commands/recover.ts";
import { addReplay } from "./commands/replay.ts";
import { addServe } from "./commands/serve.ts";
import { addToken } from "./commands/token.ts";
import { escapedTerminal } from "./output/escaped-output.ts";
import { failureOf } from "./output/report-error.ts";
import type { Terminal } from "./output/terminal.ts";
import { packageVersion } from "./package-root.ts";

const EXAMPLES = `
Try:
  callgate demo                                    see the gate decide, in a few seconds
  callgate policy import tools.json --format mcp   make a policy from tool definitions
  callgate policy lint --policy policy.yaml        look for mistakes in it
  callgate replay calls.jsonl --policy policy.yaml try it on recorded conversations

Exit codes: 0 ok, 1 findings (policy lint, test and fmt --check, backtest, verify, recover, conformance, demo --config), 2 wrong usage or input, 3 environment error (machine, disk, cluster).`;

export async function runCli(args: readonly string[], rawTerminal: Terminal): Promise<ExitCode> {
  const terminal = escapedTerminal(rawTerminal, writesJson(args));
  let exitCode: ExitCode = EXIT_OK;
  const cli: Cli = {
    terminal,
    end: (code) => {
      exitCode = code;
    },
  };
  try {
    if (args.length === 0) {
      await terminal.err.write(`${createProgram(cli, false).helpInformation()}${EXAMPLES}\n`);
      await terminal.err.flush();
      return EXIT_USAGE;
    }
    await createProgram(cli, isJson(args)).parseAsync([...args], { from: "user" });
    await terminal.out.flush();
    return exitCode;
  } catch (error) {
    return await tell(error, args, terminal);
  }
}

function isJson(args: readonly string[]): boolean {
  return args.includes("--json");
}

/** Also with `--format json` or `jsonl`. */
function writesJson(args: readonly string[]): boolean {
  return isJson(args) || args.some((one) => /^(?:--format=|-f)?jsonl?$/.test(one));
}

/** @param json usage errors are printed by `tell`, not by commander. */
function createProgram(cli: Cli, json: boolean): Command {
  const { terminal } = cli;
  const program = new Command("callgate")
    .description("decides, before a tool call of an AI agent runs, whether it may run")
    .version(packageVersion(), "-V, --version")
    .addHelpText("after", EXAMPLES)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.out.write(text).catch(() => undefined),
      writeErr: (text) => void terminal.err.write(text).catch(() => undefined),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      outputError: (text, write) => (json ? undefined : write(text)),
    });
  addDemo(program, cli);
  addReplay(program, cli);
  addPolicy(program, cli);
  addBacktest(program, cli);
  addDev(program, cli);
  addServe(program, cli);
  addApprovals(program, cli);
  addConversations(program, cli);
  addCalls(program, cli);
  addGate(program, cli);
  addExecutor(program, cli);
  addConformance(program, cli);
  addConfig(program, cli);
  addAnalytics(program, cli);
  addNotify(program, cli);
  addCluster(program, cli);
  addToken(program, cli);
  addRecover(program, cli);
  addBackup(program, cli);
  addCompletion(program, cli);
  if (!json) nameTheHelp(program, "callgate");
  return program;
}

/** After a usage error, each command points to its own help, where its options are listed. */
function nameTheHelp(command: Command, called: string): void {
  const lists = command.commands.length > 0 ? "the commands" : "the options";
  command.showHelpAfterError(`(${called} --help lists ${lists})`);
  for (const one of command.commands) nameTheHelp(one, `${called} ${one.name()}`);
}

async function tell(
  error: unknown,
  args: readonly string[],
  terminal: Terminal,
): Promise<ExitCode> {
  const failure = failureOf(error, terminal.debug);
  const lines = isJson(args) ? [...failure.lines, ...usageOf(error)] : failure.lines;
  const { exitCode } = failure;
  const text = isJson(args)
    ? `${quoteTicks(JSON.stringify({ error: { messages: lines, exitCode } }))}\n`
    : lines.map((line) => `callgate: ${line}\n`).join("");
  // If even this cannot be written, only the exit code reports the failure.
  const tries = [() => terminal.err.write(lines.length === 0 ? "" : text), terminal.err.flush];
  for (const attempt of [...tries, terminal.out.flush]) await attempt().catch(() => undefined);
  return exitCode;
}

/** What commander would have printed. */
function usageOf(error: unknown): readonly string[] {
  if (!(error instanceof CommanderError) || error.exitCode === 0) return [];
  return error.code.startsWith("commander.help") ? [] : [error.message.replace(/^error: /, "")];
}
