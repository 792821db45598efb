/**
 * `callgate dev`: an embedded gate that reads JSON lines. Lines of one conversation are handled in
 * order, those of different conversations concurrently.
 */
import { createReadStream } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { CallgateError } from "../../client/api/callgate-error.ts";
import { openCallgate } from "../../library/callgate.ts";
import { EXIT_ENVIRONMENT, EXIT_OK, EXIT_USAGE, type ExitCode } from "../../process/exit-error.ts";
import { onStop } from "../../process/stop-signals.ts";
import { fileError, isFileError } from "../../process/text-files.ts";
import { type Line, STDIN, splitLines } from "../input/read-lines.ts";
import type { Terminal } from "../output/terminal.ts";
import { DevSession } from "./dev-session.ts";

export interface DevOptions {
  readonly policy: readonly string[];
  readonly dataDir: string;
  /** `-` is stdin. */
  readonly input: string;
  /** Continues after the end of the input until stopped, to wait for verdicts. */
  readonly stay: boolean;
}

/** Fits any proposal, with room for the other fields. */
const LINE_BYTES_MAX = 2 * 1024 * 1024;
const STAY_MS = 3_600_000;

/** Exit code 2 if a line was answered with an error; with `stay`, the answers say so. */
export async function runDev(options: DevOptions, terminal: Terminal): Promise<ExitCode> {
  const stop = onStop();
  const lost: CallgateError[] = [];
  const { policy, dataDir } = options;
  const onLost = (error: CallgateError) => {
    lost.push(error);
    stop.now();
  };
  const gate = await openCallgate({ policy, dataDir, onLost });
  const session = new DevSession(gate, terminal);
  await terminal.err.write(`callgate: deciding by ${gate.policyRevision} in ${dataDir}\n`);
  try {
    await session.run(linesOf(options, terminal, stop.signal));
    while (options.stay && !stop.signal.aborted) {
      await sleep(STAY_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  } finally {
    stop.end();
    await session.close();
    await gate.close();
  }
  const [error] = lost;
  if (error === undefined) return options.stay ? EXIT_OK : tellRejected(session, terminal);
  await terminal.err.write(`callgate: ${error.message}\n`);
  return EXIT_ENVIRONMENT;
}

/** Informs a program that sends lines and ignores the answers. */
async function tellRejected({ rejected }: DevSession, terminal: Terminal): Promise<ExitCode> {
  if (rejected === 0) return EXIT_OK;
  const lines = rejected === 1 ? "1 line was" : `${rejected} lines were`;
  await terminal.err.write(`callgate: ${lines} rejected: see the answers of type "error"\n`);
  return EXIT_USAGE;
}

async function* linesOf(
  { input: path }: DevOptions,
  terminal: Terminal,
  signal: AbortSignal,
): AsyncGenerator<Line> {
  const input = path === STDIN ? terminal.input : createReadStream(path);
  const close = () => void input.destroy();
  signal.addEventListener("abort", close, { once: true });
  try {
    yield* splitLines(input, LINE_BYTES_MAX);
  } catch (error) {
    if (signal.aborted) return;
    throw isFileError(error) ? fileError("read", path, error) : error;
  } finally {
    signal.removeEventListener("abort", close);
  }
}
