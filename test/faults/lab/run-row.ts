// Runs one row, from its first gate to the verdict, within its time.
import { inTime } from "./in-time.ts";
import { Lab } from "./lab.ts";
import type { Judgement, Row, RowContext, Run } from "./row.ts";

const MS_PER_SECOND = 1_000;
const WITHIN_SECONDS = 300;
const END_WITHIN_MS = 40_000;
/** The calls that the checker must have seen during the load. */
const CALLS_BETWEEN_MIN = 20;

export type RowResult = {
  readonly name: string;
  readonly calls: number;
  /** How many of them the checker saw during the load. */
  readonly between: number;
  readonly faults: number;
  readonly inTransaction: number;
  readonly lost: number;
  readonly doubled: number;
  readonly worstGapMs: number | null;
  readonly seconds: number;
  /** The row, or a process of it, did not end: its brokers must not be used again. */
  readonly overran: boolean;
  /** Empty: the row passed. */
  readonly problems: readonly string[];
};

export type RowOptions = Pick<RowContext, "short" | "version" | "cluster"> & {
  /** The deadline of all rows, in epoch ms. */
  readonly untilMs: number;
};

type Started = {
  /** Set from the first lab on, so that a failed row can report it. */
  run: Run | undefined;
  readonly problems: string[];
  readonly ends: (() => Promise<unknown>)[];
};

/** Never rejects, and takes no longer than the row's time and the time to end its processes. */
export async function runRow(row: Row, options: RowOptions): Promise<RowResult> {
  const startedMs = Date.now();
  const started: Started = { run: undefined, problems: [], ends: [] };
  const { problems } = started;
  const withinMs = Math.min(
    (row.withinSeconds ?? WITHIN_SECONDS) * MS_PER_SECOND,
    options.untilMs - startedMs,
  );
  const judged = await inTime(() => judgedRow(row, options, started), withinMs);
  const { run } = started;
  if (judged.type === "failed") problems.push(judged.problem);
  if (judged.type === "overran") {
    problems.push(`it did not end within ${Math.round(withinMs / MS_PER_SECOND)} s`);
  }
  const verdict = judged.type === "done" ? judged.value : NOTHING;
  if (run !== undefined && verdict !== NOTHING) {
    problems.push(...verdict.problems, ...problemsOf(row, options.short, run, verdict));
  }
  if (run !== undefined && (verdict === NOTHING || verdict.lost > 0)) problems.push(run.logs());
  const allEnded = await endAll(started);
  const { calls, lost, doubled, between } = verdict;
  const { faults = 0, inTransaction = 0, worstGapMs = null } = run ?? {};
  return {
    ...{ name: row.name, calls, lost, doubled, between: between.calls },
    ...{ faults, inTransaction, worstGapMs, problems },
    seconds: (Date.now() - startedMs) / MS_PER_SECOND,
    overran: judged.type === "overran" || !allEnded,
  };
}

/** The outcome of a row without a verdict. */
const NOTHING: Judgement = {
  ...{ calls: 0, lost: 0, doubled: 0, allowed: 0, refused: 0, held: 0, problems: [] },
  between: { calls: 0, problems: [] },
};

async function judgedRow(row: Row, options: RowOptions, started: Started): Promise<Judgement> {
  const { cluster, short, version } = options;
  started.run = await row.run({
    ...{ cluster, short, version },
    open: async (labOptions = {}) => {
      const checkAfterFaults = Math.ceil(row.faultsMin(short) / 2);
      const lab = await Lab.open({ cluster, checkAfterFaults, ...labOptions });
      started.run ??= lab;
      started.ends.push(() => lab.close());
      return lab;
    },
    onEnd: (end) => void started.ends.push(end),
    fail: (problem) => void started.problems.push(problem),
  });
  return await started.run.finish();
}

/** Cleans up in reverse order; false: something did not end. */
async function endAll({ ends, problems }: Started): Promise<boolean> {
  let allEnded = true;
  for (const end of ends.reverse()) {
    const ended = await inTime(end, END_WITHIN_MS);
    if (ended.type === "done") continue;
    allEnded = false;
    problems.push(ended.type === "failed" ? ended.problem : "what it had started did not end");
  }
  return allEnded;
}

/** A run in which too little was decided, struck or checked is void, since it proves nothing. */
function problemsOf(row: Row, short: boolean, run: Run, verdict: Judgement): readonly string[] {
  const { between } = verdict;
  const problems = between.problems.map((problem) => `while the load ran: ${problem}`);
  const needs = (have: number, least: number, what: string) => {
    if (have < least) problems.push(`void: ${have} ${what}, ${least} are needed`);
  };
  needs(verdict.calls, 50, "calls decided");
  needs(verdict.allowed, 10, "calls allowed");
  needs(verdict.refused, 5, "calls refused");
  needs(between.calls, CALLS_BETWEEN_MIN, "calls seen while the load ran");
  needs(run.faults, row.faultsMin(short), "faults");
  needs(run.inTransaction, row.inTransactionMin?.(short) ?? 0, "faults inside a transaction");
  if (verdict.lost > 0) problems.push(`${verdict.lost} proposals were never decided`);
  if (verdict.doubled > 0) problems.push(`${verdict.doubled} proposals were decided twice`);
  const gapMs = run.worstGapMs ?? Number.POSITIVE_INFINITY;
  if (row.gapMaxMs !== undefined && gapMs > row.gapMaxMs) {
    problems.push(`${gapMs} ms without a decision, at most ${row.gapMaxMs} are allowed`);
  }
  return problems;
}
