/**
 * The parts of the evaluation that need no recorded conversations. Their targets are goals: they fail
 * the run with `--check` alone.
 */
import { evaluateAura } from "./aura-guard/evaluate-aura.ts";
import { evaluateConversations } from "./conversations/evaluate-conversations.ts";
import { evaluateLoop } from "./loop/evaluate-loop.ts";
import type { PartResult } from "./part-result.ts";
import { evaluateImport } from "./tools/evaluate-import.ts";

export interface PartOptions {
  /** Lists single wrong decisions. */
  readonly verbose: boolean;
  /** A missed target fails the run. */
  readonly check: boolean;
}

type Part = (print: (text: string) => void, verbose: boolean) => Promise<PartResult>;

const PARTS: Readonly<Record<string, Part>> = {
  conversations: evaluateConversations,
  loop: evaluateLoop,
  aura: evaluateAura,
  import: evaluateImport,
};

const EXIT_MISSED = 1;
const EXIT_MISSING = 3;

const print = (text: string): void => console.log(text);

/** Runs one part. Returns the exit code. */
export async function runPart(name: string, { verbose, check }: PartOptions): Promise<number> {
  const part = PARTS[name];
  if (part === undefined) throw new Error(`there is no part ${name}`);
  return exitCodeOf(printResult(await part(print, verbose)), check);
}

/** Runs all parts. Returns the exit code. */
export async function runParts({ verbose, check }: PartOptions): Promise<number> {
  const codes: number[] = [];
  for (const name of Object.keys(PARTS)) codes.push(await runPart(name, { verbose, check }));
  if (codes.includes(EXIT_MISSED)) return EXIT_MISSED;
  return codes.includes(EXIT_MISSING) ? EXIT_MISSING : 0;
}

function printResult(result: PartResult): PartResult {
  const { name, missing, targets } = result;
  for (const { name: target, wanted, actual, ok } of targets) {
    print(`${ok ? "reached" : "MISSED "} ${target}: ${actual} (${wanted})`);
  }
  for (const reason of missing) print(`skipped: ${name}: ${reason}`);
  const reached = targets.filter(({ ok }) => ok).length;
  print(`eval ${name}: ${reached} of ${targets.length} targets reached`);
  return result;
}

function exitCodeOf({ missing, targets }: PartResult, check: boolean): number {
  if (missing.length > 0) return EXIT_MISSING;
  return check && targets.some(({ ok }) => !ok) ? EXIT_MISSED : 0;
}
