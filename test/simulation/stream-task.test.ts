// Runs the real stream task and the real core over a log, an ownership and a checkpoint store that
// can fail at every call. Each seed is one run: a phase with faults, then one without in which
// everything that was begun must end. A checker that reads only the topics judges it.
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { EditedCopy } from "../support/edited-copy/edited-copy.ts";
import { RUNTIME_SAFEGUARDS } from "../support/edited-copy/safeguards.ts";
import { createEngines } from "../support/simulation/engines.ts";
import { type FaultRates, type OutsideFault, SOME_FAULTS } from "../support/simulation/faults.ts";
import { Simulation, type SimulationRun } from "../support/simulation/run-simulation.ts";

const SEEDS = Number(process.env["CALLGATE_SEEDS"] ?? 400);
const FIRST_SEED = Number(process.env["CALLGATE_FIRST_SEED"] ?? 1);
/** The checker must notice a missing safeguard within so many seeds. */
const SEEDS_TO_NOTICE = 400;

/**
 * Every call that the task makes to the outside: a process may die just before and just after it.
 */
const CALLS = [
  "append:verdicts",
  "clear",
  "closeWriter",
  "commit",
  "endOffset",
  "load",
  "read:decisions",
  "read:proposals",
  "read:results",
  "read:verdicts",
  "recordedOffsets",
  "save",
  "sleep",
  "startOffset",
  "takeOver",
  "waitForNew",
  "write",
];

type Sources = {
  readonly Simulation: typeof Simulation;
  readonly createEngines: typeof createEngines;
};

const OUTSIDE: readonly OutsideFault[] = ["fencing", "redelivery"];
const SAFEGUARDS = Object.keys(RUNTIME_SAFEGUARDS) as (keyof typeof RUNTIME_SAFEGUARDS)[];

const engines = createEngines();

function simulate(seed: number, off?: OutsideFault): Promise<SimulationRun> {
  return new Simulation({ seed, engines, ...(off === undefined ? {} : { off }) }).run();
}

/** The simulation and the whole runtime, copied without one safeguard. */
async function loadWithout(safeguard: keyof typeof RUNTIME_SAFEGUARDS): Promise<Sources> {
  const copy = new EditedCopy(RUNTIME_SAFEGUARDS[safeguard]);
  onTestFinished(() => copy.remove());
  const folder = "test/support/simulation";
  const simulation = await copy.load<Pick<Sources, "Simulation">>(`${folder}/run-simulation.ts`);
  const made = await copy.load<Pick<Sources, "createEngines">>(`${folder}/engines.ts`);
  return { Simulation: simulation.Simulation, createEngines: made.createEngines };
}

/** The problems of the first seed that has any. */
async function findProblems(
  run: (seed: number) => Promise<SimulationRun>,
): Promise<readonly string[]> {
  for (let seed = 1; seed <= SEEDS_TO_NOTICE; seed += 1) {
    const { problems } = await run(seed);
    if (problems.length > 0) return problems;
  }
  return [];
}

describe("the stream task, simulated", () => {
  const struck = new Set<string>();
  const happened = new Map<string, number>();
  const codes = new Set<string>();
  let journalRecords = 0;
  let seedsPerMinute = 0;

  it(`loses, doubles and reorders nothing under ${SEEDS} seeds of faults`, async () => {
    const startedMs = performance.now();
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
      const run = await simulate(seed);
      expect({ seed, problems: run.problems, misreported: run.misreported }).toEqual({
        seed,
        problems: [],
        misreported: [],
      });
      // A run without decisions would prove nothing.
      expect(run.journalRecords).toBeGreaterThan(10);
      for (const point of run.struck) struck.add(point);
      for (const code of run.codes) codes.add(code);
      for (const [kind, count] of run.happened) {
        happened.set(kind, (happened.get(kind) ?? 0) + count);
      }
      journalRecords += run.journalRecords;
    }
    seedsPerMinute = Math.round((SEEDS / (performance.now() - startedMs)) * 60_000);
  });

  it("dies before and after every call at least once", () => {
    const points = CALLS.flatMap((call) => [`${call}:before`, `${call}:after`]);
    expect([...struck].sort()).toEqual(points.sort());
  });

  it("encounters every kind of fault", () => {
    const kinds = Object.keys(SOME_FAULTS) as (keyof FaultRates)[];
    expect(kinds.filter((kind) => (happened.get(kind) ?? 0) === 0)).toEqual([]);
  });

  it("reaches every kind of error", () => {
    expect([...codes]).toEqual(
      expect.arrayContaining(["outcome_unknown", "fenced", "offsets_ahead", "log_unavailable"]),
    );
  });

  it("repeats the same run for the same seed", async () => {
    const [first, second, other] = [await simulate(7), await simulate(7), await simulate(8)];
    expect(second.digest).toBe(first.digest);
    expect(other.digest).not.toBe(first.digest);
  });

  afterAll(() => {
    const faults = [...happened].map(([kind, count]) => `${kind} ${count}`).join(", ");
    process.stdout.write(
      `simulation: ${SEEDS} seeds, ${seedsPerMinute} a minute, ${journalRecords} journal records, ` +
        `${struck.size} of ${CALLS.length * 2} crash points struck; ${faults}\n`,
    );
  });
});

describe("the checker notices the failure", () => {
  it.each(SAFEGUARDS)("without the safeguard %s", async (safeguard) => {
    const sources = await loadWithout(safeguard);
    const edited = sources.createEngines();
    const problems = await findProblems((seed) =>
      new sources.Simulation({ seed, engines: edited }).run(),
    );
    expect(problems).not.toEqual([]);
  });

  it.each(OUTSIDE)("where the outside lacks its %s", async (off) => {
    expect(await findProblems((seed) => simulate(seed, off))).not.toEqual([]);
  });
});
