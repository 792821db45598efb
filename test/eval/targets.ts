/** The targets for these recordings, all at once, and the figures that the gate reaches. */
import type { Figures } from "./figures.ts";
import type { SourceRun } from "./replay-source.ts";

export interface Target {
  readonly name: string;
  readonly wanted: string;
  readonly actual: string;
  readonly ok: boolean;
  /** The evaluation fails where it is missed. */
  readonly isHeld: boolean;
}

export function targetsOf(ours: Figures, runs: readonly SourceRun[]): readonly Target[] {
  const answered = runs.reduce((sum, run) => sum + run.reads.answered, 0);
  const reads = answered + runs.reduce((sum, run) => sum + run.reads.run, 0);
  const doubled = ours.doubledWithArgumentsPct ?? 0;
  const open = atLeast("doubled writes with arguments outside loops refused, %", doubled, 85);
  return [
    atMost("ground truths harmed", ours.groundTruthHarmed, 0),
    atMost("successes harmed", ours.successHarmed, 1),
    atLeast("ordinary severe loops caught, %", ours.ordinaryCaughtPct, 100),
    atMost("repeats let through, mean", ours.letThrough, 0.05),
    atLeast("loop calls saved, %", ours.ordinarySavedPct, 99.5),
    // docs/evaluation.md, "Harm against doubled writes": to refuse more would do harm.
    { ...open, isHeld: false },
    {
      name: "repeated reads with nothing written since, within the cache time, answered",
      wanted: "all",
      actual: `${answered} of ${reads}`,
      ok: reads > 0 && answered === reads,
      isHeld: true,
    },
  ];
}

export function targets(ours: Figures, runs: readonly SourceRun[]): string {
  return targetsOf(ours, runs)
    .map(
      ({ name, wanted, actual, ok }) =>
        `${ok ? "reached" : "MISSED "} ${name}: ${actual} (${wanted})`,
    )
    .join("\n");
}

function atMost(name: string, actual: number, most: number): Target {
  return {
    name,
    wanted: `at most ${most}`,
    actual: shown(actual),
    ok: actual <= most,
    isHeld: true,
  };
}

function atLeast(name: string, actual: number, least: number): Target {
  return {
    name,
    wanted: `at least ${least}`,
    actual: shown(actual),
    ok: actual >= least,
    isHeld: true,
  };
}

function shown(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}
