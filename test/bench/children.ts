/**
 * Runs measurements in fresh processes, in turn, so that a slow phase of the machine slows all of
 * them.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type BenchRow, medianRow } from "./bench-row.ts";

export type Measurement = {
  /** For messages. */
  readonly name: string;
  readonly run: () => readonly BenchRow[];
};

const CHILD = fileURLToPath(new URL("child.js", import.meta.url));
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const MESSAGE_CHARS_MAX = 400;

/**
 * The last line of a Node program's output. @throws Error with the program's message where it
 * failed.
 */
export function lastLine(args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error, signal } = spawnSync(process.execPath, args, {
    cwd,
    encoding: "utf8",
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  if (error !== undefined) throw error;
  if (status === 0) return stdout.trimEnd().split("\n").at(-1) ?? "";
  const message = /^.*Error: .*$/m.exec(stderr)?.[0] ?? stderr.trim();
  throw new Error(`${message.slice(0, MESSAGE_CHARS_MAX)} (${signal ?? `exit code ${status}`})`);
}

/** `flags`: flags of Node for this measurement. */
export function child(
  what: string,
  options: object = {},
  flags: readonly string[] = [],
): Measurement {
  const text = JSON.stringify(options);
  const args = [...flags, "--expose-gc", CHILD, what, text];
  return {
    name: `${what} ${text}`,
    run: () => JSON.parse(lastLine(args, process.cwd())) as BenchRow[],
  };
}

/** A measurement whose process kills itself at its end, and has no rows. */
export function killedChild(what: string, options: object): Measurement {
  const text = JSON.stringify(options);
  const run = (): readonly BenchRow[] => {
    const { signal, stderr } = spawnSync(process.execPath, [CHILD, what, text], {
      encoding: "utf8",
    });
    if (signal === "SIGKILL") return [];
    throw new Error(`it was not killed: ${stderr.slice(0, MESSAGE_CHARS_MAX)}`);
  };
  return { name: `${what} ${text}`, run };
}

export type Measured = { readonly rows: readonly BenchRow[]; readonly failures: readonly string[] };

/** The median of each figure over the rounds. A measurement that fails once is not repeated. */
export function inRounds(rounds: number, measurements: readonly Measurement[]): Measured {
  const rowsByName = new Map<string, BenchRow[]>();
  const failures = new Map<Measurement, string>();
  const turns = Array.from({ length: rounds }, () => measurements).flat();
  for (const measurement of turns) {
    if (failures.has(measurement)) continue;
    try {
      for (const row of measurement.run()) {
        rowsByName.set(row.name, [...(rowsByName.get(row.name) ?? []), row]);
      }
    } catch (error) {
      failures.set(measurement, `${measurement.name}: ${messageOf(error)}`);
    }
  }
  return { rows: [...rowsByName.values()].map(medianRow), failures: [...failures.values()] };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
