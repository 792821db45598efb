// Decides lists of commands, replays every recorded conversation through its imported policy, lets the
// independent scorer judge the decisions, and prints the figures beside those of other guards. Exit codes:
// 1 a check failed, 3 data, python3 or a package is missing and nothing else failed.
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { checksOf } from "./checks.ts";
import { evaluateCommands, printCommands } from "./commands/evaluate-commands.ts";
import { playCorpus } from "./corpus.ts";
import { type PartOptions, runParts } from "./evaluate-parts.ts";
import { figuresOf, PUBLISHED } from "./figures.ts";
import { type Case, worst } from "./find-cases.ts";
import { type PeakMemory, peakMemory } from "./peak-memory.ts";
import { replaySource, type SourceRun } from "./replay-source.ts";
import { bySource, cases, comparison } from "./report.ts";
import { decideByRules, pythonProblem, score } from "./score.ts";
import { type EvalData, findEvalData } from "./sources.ts";
import { targets } from "./targets.ts";

const CASES_SHOWN = 10;
const MEASURED_SOURCE = "tau2-bench";
const MICROSECONDS_PER_MS = 1_000;

const print = (text: string) => console.log(text);

async function replayAll(data: EvalData, scratch: string, decisions: string) {
  const runs: SourceRun[] = [];
  for (const source of data.sources) {
    const run = await replaySource(source, join(scratch, `${source.name}.yaml`));
    appendFileSync(decisions, run.decisions);
    const { name, conversations, calls, elapsedMs } = run;
    print(`${name}: ${conversations} conversations, ${calls} calls, ${Math.round(elapsedMs)} ms`);
    runs.push(run);
  }
  return runs;
}

function usPerCall(runs: readonly SourceRun[]): number {
  const elapsedMs = runs.reduce((sum, run) => sum + run.decidingMs, 0);
  const calls = runs.reduce((sum, run) => sum + run.calls, 0);
  return (elapsedMs * MICROSECONDS_PER_MS) / Math.max(calls, 1);
}

function printCases(allCases: readonly Case[]): void {
  for (const kind of ["harm", "miss"] as const) {
    const all = allCases.filter((one) => one.kind === kind).length;
    const title = kind === "harm" ? "Refusals that did harm" : "Repeats that ran";
    print(`\n## ${title}: the worst of ${all} conversations\n`);
    print(cases(worst(allCases, kind, CASES_SHOWN)) || "none");
  }
}

async function evaluate(data: EvalData, scratch: string, corpusIsRight: boolean): Promise<boolean> {
  const decisions = join(scratch, "decisions.jsonl");
  const ruled = join(scratch, "rules.jsonl");
  writeFileSync(decisions, "");
  const runs = await replayAll(data, scratch, decisions);
  await decideByRules(data.directory, ruled);
  const ours = await score(data.directory, decisions);
  const rules = await score(data.directory, ruled);

  print("\n## Guards\n");
  const rows = [
    figuresOf("Callgate, as imported", ours, usPerCall(runs)),
    figuresOf("five plain rules", rules, null),
    ...PUBLISHED,
  ];
  print(comparison(rows));
  print("\nThe first two rows were measured in this run; the others are published figures in");
  print("docs/evaluation.md, measured on these sources and more. us/call of Callgate is");
  print("canonical form, digest, decision and state.");
  print("\n## By source: conversations harmed / blocked / all\n");
  print(bySource(runs, ours, rules));
  print("\n## Targets\n");
  print(targets(figuresOf("ours", ours, null), runs));
  printCases(runs.flatMap((run) => run.cases));

  const memory = await memoryOf(data, scratch);
  print("\n## Memory\n");
  print(
    `callgate replay of ${memory.file} had at most ${memory.onceMegabytes.toFixed(0)} MB, of ` +
      `${memory.times} times the file ${memory.oftenMegabytes.toFixed(0)} MB`,
  );

  const checks = checksOf(runs, ours, rules, memory, corpusIsRight);
  print("\n## Checks\n");
  for (const { name, ok, actual } of checks)
    print(`${ok ? "ok    " : "FAILED"} ${name} (${actual})`);
  const passed = checks.filter(({ ok }) => ok).length;
  print(`\neval: ${passed} of ${checks.length} checks passed`);
  return passed === checks.length;
}

/** The memory check uses the largest file that does not take minutes. */
async function memoryOf(data: EvalData, scratch: string): Promise<PeakMemory> {
  const source = data.sources.find(({ name }) => name === MEASURED_SOURCE);
  if (source === undefined) throw new Error(`there is no source ${MEASURED_SOURCE}`);
  const measured = await peakMemory(
    source.recordings,
    join(scratch, `${MEASURED_SOURCE}.yaml`),
    scratch,
  );
  return { ...measured, file: basename(source.recordings) };
}

/** The exit code. */
export async function runEvaluation(options: PartOptions): Promise<number> {
  const partsCode = await runParts(options);
  const corpusIsRight = await playCorpus(print);
  const commands = await evaluateCommands();
  printCommands(commands, print);
  const data = findEvalData();
  const missing = "missing" in data ? data.missing : await pythonProblem();
  if ("missing" in data || missing !== null) {
    console.error(`cannot evaluate: ${missing}`);
    return partsCode === 1 ? 1 : 3;
  }
  const scratch = mkdtempSync(join(tmpdir(), "callgate-eval-"));
  try {
    const isRight = await evaluate(data, scratch, corpusIsRight);
    if (!isRight || partsCode === 1 || commands.some(({ state }) => state === "MISSED")) return 1;
    return commands.some(({ state }) => state === "skipped") ? 3 : partsCode;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
