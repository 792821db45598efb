/** The columns of the comparison: of a score, or as published. */
import type { DoubleScore, LoopScore, PoolScore, Score } from "./score.ts";

export interface Figures {
  readonly name: string;
  readonly groundTruthBlocked: number;
  readonly groundTruthHarmed: number;
  readonly successBlocked: number;
  readonly successHarmed: number;
  readonly harmfulCalls: number;
  readonly harmfulPer1000: number;
  readonly warned: number;
  readonly loopsCaughtPct: number;
  readonly ordinaryCaughtPct: number;
  readonly letThrough: number;
  readonly ordinarySavedPct: number;
  readonly doubledPct: number;
  readonly doubledOutsidePct: number;
  /** The share outside loops that names an object; null where it was not published. */
  readonly doubledWithArgumentsPct: number | null;
  readonly usPerCall: number | null;
}

/**
 * Guards as published in docs/evaluation.md, with their defaults there. They were measured on these
 * sources and more: 1,497 ground truths, 1,630 successes, 183 severe loops, 583 doubled writes.
 */
export const PUBLISHED: readonly Figures[] = [
  published(
    "OpenRouter doomLoop",
    [3, 2, 66, 50, 70, 3.74, 222, 98.9, 97.7, 1.0, 95.8, 63.0, 8.7, 46.2],
  ),
  published("Gemini CLI", [1, 1, 0, 0, 4, 0.21, 0, 100, 100, 3.9, 85.0, 57.1, 0, 4.6]),
  published("OpenClaw", [0, 0, 0, 0, 0, 0, 0, 4.9, 20.5, 19.1, 48.2, 40.0, 0, 24.6]),
  published("Hermes", [0, 0, 3, 3, 6, 0.32, 67, 96.7, 93.2, 4.6, 75.3, 48.2, 0, 68.4]),
  published("Hermes, told reads", [0, 0, 3, 3, 6, 0.32, 67, 97.8, 93.2, 4.4, 76.2, 48.2, 0, null]),
  published(
    "A any exact repeat",
    [42, 28, 246, 196, 412, 22.0, 0, 100, 100, 0, 100, 100, 100, 6.6],
  ),
  published(
    "B repeat of a write",
    [8, 7, 89, 69, 138, 7.37, 0, 19.1, 15.9, 0.1, 33.2, 100, 100, 2.9],
  ),
  published(
    "C the same, not failed",
    [8, 7, 32, 12, 28, 1.5, 0, 18.6, 13.6, 0.2, 29.6, 100, 100, 3.1],
  ),
  published("M third, one output", [1, 0, 7, 0, 0, 0, 0, 88.5, 70.5, 1.0, 58.1, 52.5, 3.7, 8.6]),
];

type Row = readonly [...(readonly number[]), number | null];

function published(name: string, row: Row): Figures {
  const at = (index: number) => row[index] ?? 0;
  return {
    name,
    groundTruthBlocked: at(0),
    groundTruthHarmed: at(1),
    successBlocked: at(2),
    successHarmed: at(3),
    harmfulCalls: at(4),
    harmfulPer1000: at(5),
    warned: at(6),
    loopsCaughtPct: at(7),
    ordinaryCaughtPct: at(8),
    letThrough: at(9),
    ordinarySavedPct: at(10),
    doubledPct: at(11),
    doubledOutsidePct: at(12),
    doubledWithArgumentsPct: null,
    usPerCall: row[13] ?? null,
  };
}

/** `usPerCall`: null where the time was not measured. */
export function figuresOf(name: string, score: Score, usPerCall: number | null): Figures {
  const truth = score.pools["open | ground truth"];
  const success = score.pools["open | success"];
  const both = score.pools["open | ground truth + success"];
  const ordinary = score.loops["open | ordinary"];
  return {
    name,
    groundTruthBlocked: truth?.conversations_blocked ?? 0,
    groundTruthHarmed: truth?.conversations_harmed ?? 0,
    successBlocked: success?.conversations_blocked ?? 0,
    successHarmed: success?.conversations_harmed ?? 0,
    harmfulCalls: both?.harmful_calls ?? 0,
    harmfulPer1000: percent(both?.harmful_calls, both?.calls) * 10,
    warned: both?.conversations_warned ?? 0,
    loopsCaughtPct: caughtPct(score.loops["open | all"]),
    ordinaryCaughtPct: caughtPct(ordinary),
    letThrough: ordinary?.let_through_mean ?? 0,
    ordinarySavedPct: percent(ordinary?.loop_calls_blocked, ordinary?.loop_calls),
    doubledPct: doubledPct(score.doubled_writes["open | all"]),
    doubledOutsidePct: doubledPct(score.doubled_writes["open | model runs, other"]),
    doubledWithArgumentsPct: doubledPct(
      score.doubled_writes_with_arguments["open | model runs, other"],
    ),
    usPerCall,
  };
}

export function percent(part: number | undefined, whole: number | undefined): number {
  return part === undefined || whole === undefined || whole === 0 ? 0 : (100 * part) / whole;
}

export function caughtPct(loops: LoopScore | undefined): number {
  return percent(loops?.conversations_caught, loops?.conversations);
}

export function doubledPct(doubles: DoubleScore | undefined): number {
  return percent(doubles?.calls_blocked, doubles?.calls);
}

export function harmedOf(pool: PoolScore | undefined): string {
  if (pool === undefined) return "-";
  const { conversations, conversations_blocked, conversations_harmed } = pool;
  return `${conversations_harmed} / ${conversations_blocked} / ${conversations}`;
}
