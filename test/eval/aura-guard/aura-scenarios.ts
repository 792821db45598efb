/**
 * The 14 scenarios of Aura Guard 0.7.1 (`bench/scenarios/scenarios.json` of its package, Apache-2.0).
 * They have no outputs of tools.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sharedData } from "../../support/shared-data.ts";

export interface AuraStep {
  readonly type: "tool" | "llm";
  readonly name: string;
  readonly args?: object;
  readonly side_effect?: boolean;
  readonly result_ok?: boolean;
  readonly error_code?: string;
}

export interface AuraScenario {
  readonly scenario_id: string;
  readonly scenario_name: string;
  readonly steps: readonly AuraStep[];
}

/** Calls that ran under Aura Guard, as its own benchmark prints them, by scenario. */
export const RUN_BY_AURA: ReadonlyMap<string, number> = new Map(
  [3, 2, 3, 3, 1, 5, 4, 5, 4, 19, 5, 7, 10, 9].map((run, index) => [
    `ag_bench_${String(index + 1).padStart(2, "0")}`,
    run,
  ]),
);

/** The scenario in which nothing may be stopped. */
export const HEALTHY_SCENARIO = "ag_bench_11";

/** The scenarios, or why they are missing. */
export function readAuraScenarios(): readonly AuraScenario[] | { readonly missing: string } {
  const { available, path, reason } = sharedData("benchmarks/aura-guard");
  if (!available) return { missing: reason };
  return JSON.parse(readFileSync(join(path, "scenarios.json"), "utf8"));
}
