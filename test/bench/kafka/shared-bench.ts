// Runs the bench beside the repository, and parses the lines that it prints.
import { spawn } from "node:child_process";
import { join } from "node:path";

/** One measured run of one system, as `run.sh` prints it; other members are ignored. */
export type SharedLine = {
  readonly system: string;
  readonly mode: string;
  readonly P: number;
  readonly N?: number;
  readonly rate?: number;
  readonly inputs_per_s?: number;
  readonly cpu_s?: number;
  readonly rss_mb?: number;
  readonly p50_ms?: number;
  readonly p99_ms?: number;
  readonly exactly_once?: boolean;
  readonly wrongly_routed?: number;
  readonly failed?: boolean;
};

export type SharedBench = {
  /** The folder `bench` of `../shared`. */
  readonly folder: string;
  /** Where it builds and logs. */
  readonly work: string;
  readonly brokers: string;
  /** Command line of our gate. */
  readonly peer: string;
};

const COMMON = { TENANT: "t", REPEAT: "1" };

/** @throws Error where the script itself failed. A system that failed says so in its line. */
export async function runShared(
  bench: SharedBench,
  options: Readonly<Record<string, string>>,
): Promise<readonly SharedLine[]> {
  const { stdout, code } = await run(bench, [join(bench.folder, "run.sh")], options);
  const lines = stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as SharedLine & { readonly summary?: boolean })
    .filter(({ summary }) => summary !== true);
  // Exit code 2: a system failed or broke exactly-once, as its line says.
  if (code !== 0 && code !== 2) throw new Error(`run.sh ended with ${code}`);
  return lines;
}

/** A mode of the load generator alone: `create`, `preload`, `clean`. */
export async function runLoad(
  bench: SharedBench,
  mode: string,
  options: Readonly<Record<string, string>>,
): Promise<void> {
  const { code } = await run(bench, [join(bench.folder, "load", "load.mjs"), mode], options);
  if (code !== 0) throw new Error(`load.mjs ${mode} ended with ${code}`);
}

function run(
  { work, brokers, peer }: SharedBench,
  [script = "", ...args]: readonly string[],
  options: Readonly<Record<string, string>>,
): Promise<{ readonly stdout: string; readonly code: number | null }> {
  const command = script.endsWith(".sh") ? "bash" : process.execPath;
  const env = { ...process.env, ...COMMON, BROKERS: brokers, WORK: work, PEER_CMD: peer };
  const child = spawn(command, [script, ...args], {
    env: { ...env, ...options },
    stdio: ["ignore", "pipe", "inherit"],
  });
  // The script ends its own children when this process ends.
  const stop = (): void => void child.kill("SIGTERM");
  process.once("exit", stop);
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      process.off("exit", stop);
      resolve({ stdout, code });
    });
  });
}
