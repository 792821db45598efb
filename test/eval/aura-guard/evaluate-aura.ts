/** The part of the evaluation on the scenarios of Aura Guard. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { importTools } from "../../../services/cli/policy/import/import-tools.ts";
import type { PartResult, PartTarget } from "../part-result.ts";
import { textTable } from "../text-table.ts";
import {
  type AuraScenario,
  type AuraStep,
  HEALTHY_SCENARIO,
  RUN_BY_AURA,
  readAuraScenarios,
} from "./aura-scenarios.ts";
import { type AuraOutputs, type AuraRun, playAura } from "./play-aura.ts";

const POLICY = fileURLToPath(new URL("aura.yaml", import.meta.url));

interface AuraRow {
  readonly preset: "balanced" | "strict";
  /** `reads`: only which tools read; `imported`: what `policy import` guesses; `effects`: `aura.yaml`. */
  readonly declares: "reads" | "imported" | "effects";
  readonly outputs: AuraOutputs;
}

const ROWS: readonly AuraRow[] = [
  { preset: "balanced", declares: "reads", outputs: "each" },
  { preset: "balanced", declares: "imported", outputs: "each" },
  { preset: "balanced", declares: "effects", outputs: "each" },
  { preset: "balanced", declares: "effects", outputs: "same" },
  { preset: "strict", declares: "imported", outputs: "each" },
  { preset: "strict", declares: "effects", outputs: "each" },
  { preset: "strict", declares: "effects", outputs: "same" },
];

interface AuraFigures {
  readonly calls: number;
  readonly run: number;
  readonly runUnwarned: number;
  readonly doubled: number;
  /** Calls of the healthy workflow that did not run. */
  readonly healthyStopped: number;
}

export async function evaluateAura(
  print: (text: string) => void,
  verbose: boolean,
): Promise<PartResult> {
  print("## Scenarios of Aura Guard\n");
  const scenarios = readAuraScenarios();
  if ("missing" in scenarios) return { name: "aura", missing: [scenarios.missing], targets: [] };
  const played: (readonly [AuraRow, readonly AuraRun[]])[] = [];
  for (const row of ROWS) {
    const runs: AuraRun[] = [];
    for (const scenario of scenarios) {
      runs.push(await playAura(policyOf(row, scenarios), scenario, row.outputs));
    }
    played.push([row, runs]);
  }
  const auraRun = [...RUN_BY_AURA.values()].reduce((sum, run) => sum + run, 0);
  const rows = played.map(([row, runs]) => [nameOf(row), ...cellsOf(sumRuns(runs))]);
  print(
    textTable(TITLES, [...rows, ["Aura Guard 0.7.1, published", String(auraRun), "", "0", "0"]]),
  );
  if (verbose) for (const [row, runs] of played) printRuns(print, row, runs);
  print("");
  return { name: "aura", missing: [], targets: played.flatMap(targetsOf(auraRun)) };
}

const TITLES = ["policy", "calls run", "without a warning", "doubled", "healthy stopped"];

function cellsOf({ run, runUnwarned, doubled, healthyStopped }: AuraFigures): readonly string[] {
  return [run, runUnwarned, doubled, healthyStopped].map(String);
}

const DECLARES: Readonly<Record<AuraRow["declares"], string>> = {
  reads: "reads declared",
  imported: "imported",
  effects: "effects and searches declared",
};

function nameOf({ preset, declares, outputs }: AuraRow): string {
  const policy = DECLARES[declares];
  return `${preset}, ${policy}${outputs === "same" ? ", one output for each tool" : ""}`;
}

function policyOf({ preset, declares }: AuraRow, scenarios: readonly AuraScenario[]): object {
  const steps = scenarios
    .flatMap((scenario) => scenario.steps)
    .filter(({ type }) => type === "tool");
  switch (declares) {
    case "effects":
      return { preset, ...(parse(readFileSync(POLICY, "utf8")) as object) };
    case "imported":
      return { preset, ...importPolicy(steps) };
    case "reads":
      return { preset, tool_schemas: readsOf(steps) };
  }
}

function readsOf(steps: readonly AuraStep[]): object {
  const writes = new Set(steps.filter((step) => step.side_effect === true).map(({ name }) => name));
  const schemas = steps.map(({ name }) => [name, writes.has(name) ? {} : { read_only: true }]);
  return Object.fromEntries(schemas);
}

/** The scenarios define no tools: each has the arguments of its first call. */
function importPolicy(steps: readonly AuraStep[]): object {
  const definitions = new Map<string, object>();
  for (const { name, args = {} } of steps) {
    if (definitions.has(name)) continue;
    const types = Object.entries(args).map(([key, value]) => [key, { type: typeof value }]);
    const inputSchema = {
      ...{ type: "object", properties: Object.fromEntries(types) },
      required: Object.keys(args),
    };
    definitions.set(name, { name, inputSchema });
  }
  const imported = importTools([{ name: "aura", json: [...definitions.values()] }], "mcp");
  if (!imported.ok) throw new Error(JSON.stringify(imported.problems));
  const { policy_engine } = parse(imported.yaml);
  return policy_engine;
}

function sumRuns(runs: readonly AuraRun[]): AuraFigures {
  const sum = (of: (run: AuraRun) => number): number =>
    runs.reduce((total, run) => total + of(run), 0);
  const healthy = runs.filter(({ id }) => id === HEALTHY_SCENARIO);
  return {
    calls: sum(({ calls }) => calls),
    run: sum(({ run }) => run),
    runUnwarned: sum(({ runUnwarned }) => runUnwarned),
    doubled: sum(({ doubled }) => doubled),
    healthyStopped: healthy.reduce((total, { calls, run }) => total + calls - run, 0),
  };
}

/** The goals: no harm anywhere, and no more calls than under Aura Guard where effects are declared. */
function targetsOf(auraRun: number) {
  return ([row, runs]: readonly [AuraRow, readonly AuraRun[]]): readonly PartTarget[] => {
    if (row.declares !== "effects" || row.outputs === "same") return [];
    const { run, runUnwarned, doubled, healthyStopped } = sumRuns(runs);
    const calls =
      row.preset === "balanced"
        ? atMost("calls run without a warning", runUnwarned, auraRun)
        : atMost("calls run", run, auraRun);
    const harm = [
      atMost("side effects doubled", doubled, 0),
      atMost("calls of the healthy workflow stopped", healthyStopped, 0),
    ];
    return [...harm, calls].map((target) => ({ ...target, name: `${row.preset}: ${target.name}` }));
  };
}

function atMost(name: string, actual: number, most: number): PartTarget {
  return { name, wanted: `at most ${most}`, actual: String(actual), ok: actual <= most };
}

function printRuns(print: (text: string) => void, row: AuraRow, runs: readonly AuraRun[]): void {
  print(`\n### ${nameOf(row)}\n`);
  for (const { id, name, calls, run, runUnwarned, doubled } of runs) {
    const aura = RUN_BY_AURA.get(id) ?? "-";
    print(
      `- ${id} ${name}: ${run} of ${calls} run, ${runUnwarned} without a warning, ` +
        `${doubled} doubled; Aura Guard ${aura} run`,
    );
  }
}
