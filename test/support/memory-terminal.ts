// A terminal that records what is written, for commands in the test's own process.
import { Readable } from "node:stream";
import { createStyle } from "../../services/cli/output/style.ts";
import type { Output, Terminal } from "../../services/cli/output/terminal.ts";
import { runCli } from "../../services/cli/run-cli.ts";

export type InProcessRun = {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
};

/** `input`: given lines make it a terminal with a person at it. */
export async function runInProcess(
  args: readonly string[],
  input?: readonly string[],
): Promise<InProcessRun> {
  const out = keeping();
  const err = keeping();
  const terminal: Terminal = {
    input: Readable.from((input ?? []).map((line) => `${line}\n`)),
    isInteractive: input !== undefined,
    out: out.output,
    err: err.output,
    debug: false,
  };
  const code = await runCli(args, terminal);
  return { code, stdout: out.text(), stderr: err.text() };
}

function keeping(): { readonly output: Output; readonly text: () => string } {
  let text = "";
  const output: Output = {
    write: async (more) => {
      text += more;
    },
    flush: async () => undefined,
    isTerminal: false,
    columns: 100,
    style: createStyle(false),
  };
  return { output, text: () => text };
}
