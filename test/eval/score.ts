/**
 * Runs the scorer beside the data: an independent program that does not know how decisions were
 * made.
 */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

/** Counts of one pool, as the scorer names them. */
export interface PoolScore {
  readonly conversations: number;
  readonly calls: number;
  readonly conversations_warned: number;
  readonly conversations_blocked: number;
  readonly conversations_harmed: number;
  readonly calls_blocked: number;
  readonly harmful_calls: number;
  readonly harmless_calls: number;
}

export interface LoopScore {
  readonly conversations: number;
  readonly conversations_caught: number;
  readonly let_through_mean: number | null;
  readonly loop_calls: number;
  readonly loop_calls_blocked: number;
}

export interface DoubleScore {
  readonly calls: number;
  readonly calls_blocked: number;
}

export interface Score {
  readonly lines: number;
  readonly unknown_ids: number;
  readonly bad_indexes: number;
  readonly lines_twice: number;
  readonly pools: Readonly<Record<string, PoolScore>>;
  readonly by_source: Readonly<Record<string, PoolScore>>;
  readonly loops: Readonly<Record<string, LoopScore>>;
  readonly loops_by_source: Readonly<Record<string, LoopScore>>;
  readonly doubled_writes: Readonly<Record<string, DoubleScore>>;
  readonly doubled_writes_with_arguments: Readonly<Record<string, DoubleScore>>;
  readonly doubled_writes_by_source: Readonly<Record<string, DoubleScore>>;
}

const run = promisify(execFile);
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;

async function python(args: readonly string[]): Promise<string> {
  // Python must not write compiled files beside the scripts, since the data directory is read-only.
  const { stdout } = await run("python3", ["-B", ...args], { maxBuffer: OUTPUT_BYTES_MAX });
  return stdout;
}

export async function pythonProblem(): Promise<string | null> {
  try {
    await python(["--version"]);
    return null;
  } catch {
    return "python3 does not run: install it";
  }
}

/** @throws Error with the scorer's message when it does not accept the decisions. */
export async function score(directory: string, decisionsPath: string): Promise<Score> {
  const script = join(directory, "score.py");
  return JSON.parse(await python([script, decisionsPath, "--half", "open", "--json", "-"]));
}

/** The five plain rules, decided by their own program. */
export async function decideByRules(directory: string, decisionsPath: string): Promise<void> {
  const script = join(directory, "reference_rules.py");
  writeFileSync(decisionsPath, await python([script, "--half", "open"]));
}
