/** What must hold, whatever else the figures say. A floor is what five plain rules reach. */
import { type Figures, figuresOf } from "./figures.ts";
import type { PeakMemory } from "./peak-memory.ts";
import type { SourceRun } from "./replay-source.ts";
import type { Score } from "./score.ts";

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly found: string;
}

/** The collector takes its time where much passes through; the fifty files are 276 MB unpacked. */
const GROWTH_MEGABYTES_MAX = 120;

export function checksOf(
  runs: readonly SourceRun[],
  ours: Score,
  rules: Score,
  memory: PeakMemory,
): readonly Check[] {
  const growth = memory.oftenMegabytes - memory.onceMegabytes;
  const calls = runs.reduce((sum, run) => sum + run.calls, 0);
  const empty = runs.filter(({ conversations }) => conversations === 0).map(({ name }) => name);
  const broken = runs.flatMap(({ brokenLines }) => brokenLines);
  const misfits = ours.unknown_ids + ours.bad_indexes + ours.lines_twice;
  return [
    check(
      "every file was replayed",
      empty.length === 0,
      empty.join(", ") || `${runs.length} files`,
    ),
    check("no line was left out", broken.length === 0, broken[0] ?? "none"),
    check(
      "the scorer read a line for every call",
      ours.lines === calls,
      `${ours.lines} of ${calls}`,
    ),
    check("the decisions fit the recordings", misfits === 0, `${misfits} do not`),
    check("memory does not grow", growth < GROWTH_MEGABYTES_MAX, `${growth.toFixed(0)} MB more`),
    ...floors(figuresOf("ours", ours, null), figuresOf("rules", rules, null)),
  ];
}

function floors(ours: Figures, rules: Figures): readonly Check[] {
  return [
    atMost("ground truths harmed", ours.groundTruthHarmed, rules.groundTruthHarmed),
    atMost("successes harmed", ours.successHarmed, rules.successHarmed),
    atLeast("ordinary loops caught, %", ours.ordinaryCaughtPct, rules.ordinaryCaughtPct),
    atLeast("ordinary loop calls saved, %", ours.ordinarySavedPct, rules.ordinarySavedPct),
    atLeast(
      "doubled writes outside loops refused, with arguments, %",
      ours.doubledNamedPct ?? 0,
      rules.doubledNamedPct ?? 0,
    ),
  ];
}

function check(name: string, ok: boolean, found: string): Check {
  return { name, ok, found };
}

function atMost(name: string, ours: number, rules: number): Check {
  return check(`${name}: at most the five rules'`, ours <= rules, `${ours} to ${rules}`);
}

function atLeast(name: string, ours: number, rules: number): Check {
  const found = `${ours.toFixed(1)} to ${rules.toFixed(1)}`;
  return check(`${name}: at least the five rules'`, ours >= rules, found);
}
