/** `callgate replay`: shows what a policy would have decided in recorded conversations. */
import { stat } from "node:fs/promises";
import { openPolicy } from "../../gate/gate-policy.ts";
import { EXIT_OK, EXIT_USAGE, type ExitCode } from "../../process/exit-error.ts";
import { fileError } from "../../process/text-files.ts";
import { STDIN } from "../input/read-lines.ts";
import { createProgress } from "../output/progress.ts";
import { openResult, refuseOverwriting } from "../output/result-writer.ts";
import { createStyle } from "../output/style.ts";
import type { Terminal } from "../output/terminal.ts";
import { decisionLine } from "./decision-line.ts";
import { renderSummary } from "./render-summary.ts";
import { type ReplayOptions, replayPolicy } from "./replay-conversation.ts";
import { type ReplayedConversation, replayFiles } from "./replay-files.ts";
import type { ReplayFormat } from "./replay-formats.ts";
import { ReplaySummary } from "./summary.ts";

interface ReplayCommandOptions extends ReplayOptions {
  readonly policy: readonly string[];
  readonly format: ReplayFormat;
  readonly out?: string | undefined;
}

const BROKEN_LINES_SHOWN = 20;

/** @throws ExitError: unreadable file or policy. Exit code 2 if a line was skipped. */
export async function runReplay(
  paths: readonly string[],
  options: ReplayCommandOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  refuseOverwriting(options.out, [...paths, ...options.policy]);
  const policy = replayPolicy(await openPolicy(options.policy));
  const progress = createProgress(terminal.err, await bytesOf(paths));
  const result = await openResult(terminal, options.out);
  const summary = new ReplaySummary();
  const broken: string[] = [];
  const onBrokenLine = (message: string) => {
    if (summary.addBrokenLine() <= BROKEN_LINES_SHOWN) broken.push(message);
  };
  try {
    const run = replayFiles(paths, policy, { ...options, onBytes: progress.add, onBrokenLine });
    for await (const replayed of run) {
      summary.add(replayed);
      if (options.format === "jsonl") await result.write(linesOf(replayed));
    }
    await progress.end();
    if (options.format === "table") {
      const style = options.out === undefined ? terminal.out.style : createStyle(false);
      await result.write(renderSummary(summary.summary, style));
    }
    if (options.format === "json") await result.write(`${JSON.stringify(summary.summary)}\n`);
  } finally {
    await result.close();
  }
  return tellBroken(broken, summary.summary.brokenLines, terminal);
}

/** Size of all files together; null if stdin is among them. */
async function bytesOf(paths: readonly string[]): Promise<number | null> {
  if (paths.includes(STDIN)) return null;
  const sizes = await Promise.all(
    paths.map(async (path) => {
      try {
        return (await stat(path)).size;
      } catch (error) {
        throw fileError("read", path, error);
      }
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function linesOf({ conversation, calls }: ReplayedConversation): string {
  return calls.map((call) => `${JSON.stringify(decisionLine(conversation.id, call))}\n`).join("");
}

async function tellBroken(
  shown: readonly string[],
  count: number,
  terminal: Terminal,
): Promise<ExitCode> {
  if (count === 0) return EXIT_OK;
  const more = count > shown.length ? [`and ${count - shown.length} more lines like these`] : [];
  const lines = count === 1 ? "1 line was" : `${count} lines were`;
  const messages = [...shown, ...more, `${lines} left out; everything else was replayed`];
  await terminal.err.write(messages.map((line) => `callgate: ${line}\n`).join(""));
  return EXIT_USAGE;
}
