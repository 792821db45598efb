// Runs the command line through its launcher, as a user does, in a process of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const LAUNCHER = join(REPOSITORY, "bin", "callgate.js");
const REPORT_PEAK = new URL("./report-peak-memory.mjs", import.meta.url).href;

export interface CallgateRun {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Descriptor that stdout goes to, instead of a pipe. */
  readonly stdout?: number;
  /** Appends the peak of the resident set to stderr, see `peakMegabytes`. */
  readonly reportPeak?: boolean;
}

/** Starts it and leaves it to the caller. Stdin is a pipe. */
export function startCallgate(args: readonly string[], options: RunOptions = {}): ChildProcess {
  const { npm_lifecycle_event: _event, CALLGATE_DEBUG: _debug, ...env } = process.env;
  const flags = options.reportPeak === true ? ["--import", REPORT_PEAK] : [];
  return spawn(process.execPath, [...flags, LAUNCHER, ...args], {
    cwd: options.cwd ?? tmpdir(),
    env: { ...env, ...options.env },
    stdio: ["pipe", options.stdout ?? "pipe", "pipe"],
  });
}

export function endOf(child: ChildProcess): Promise<CallgateRun> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
  });
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

export function runCallgate(
  args: readonly string[],
  options: RunOptions = {},
): Promise<CallgateRun> {
  const child = startCallgate(args, options);
  const end = endOf(child);
  // A command that does not read its input may have ended before it is written.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(options.input ?? "");
  return end;
}

/** The peak memory of a run with `reportPeak`. */
export function peakMegabytes({ stderr }: CallgateRun): number {
  const kilobytes = /peak memory: (\d+) kB/.exec(stderr)?.[1];
  if (kilobytes === undefined) throw new Error(`no peak was reported: ${stderr}`);
  return Number(kilobytes) / 1024;
}
