/** The checks of an evaluation: the targets that are reached, and five plain rules as a floor. */
import { type Figures, figuresOf } from "./figures.ts";
import type { PeakMemory } from "./peak-memory.ts";
import type { SourceRun } from "./replay-source.ts";
import type { Score } from "./score.ts";
import { targetsOf } from "./targets.ts";

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly actual: string;
}

/** The fifty files are 276 MB unpacked, which delays garbage collection. */
const GROWTH_MEGABYTES_MAX = 120;

export function checksOf(
  runs: readonly SourceRun[],
  ours: Score,
  rules: Score,
  memory: PeakMemory,
  corpusIsRight: boolean,
): readonly Check[] {
  const growth = memory.oftenMegabytes - memory.onceMegabytes;
  const calls = runs.reduce((sum, run) => sum + run.calls, 0);
  const empty = runs.filter(({ conversations }) => conversations === 0).map(({ name }) => name);
  const broken = runs.flatMap(({ brokenLines }) => brokenLines);
  const misfits = ours.unknown_ids + ours.bad_indexes + ours.lines_twice;
  return [
    check(
      "every scenario of the corpus ends as it should",
      corpusIsRight,
      corpusIsRight ? "all" : "not all",
    ),
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
    ...held(figuresOf("ours", ours, null), figuresOf("rules", rules, null), runs),
  ];
}

/**
 * Every target except that on doubled writes, which would need harm: there the rules are the floor.
 */
function held(ours: Figures, rules: Figures, runs: readonly SourceRun[]): readonly Check[] {
  const reached = targetsOf(ours, runs)
    .filter(({ isHeld }) => isHeld)
    .map(({ name, wanted, actual, ok }) => check(`${name}: ${wanted}`, ok, actual));
  const [doubled, floor] = [ours.doubledWithArgumentsPct ?? 0, rules.doubledWithArgumentsPct ?? 0];
  const name = "doubled writes outside loops refused, with arguments, %: at least the five rules'";
  const actual = `${doubled.toFixed(1)} to ${floor.toFixed(1)}`;
  return [...reached, check(name, doubled >= floor, actual)];
}

function check(name: string, ok: boolean, actual: string): Check {
  return { name, ok, actual };
}
