// A scenario is a complaint of users of guards, as one conversation with the right decision for each call.
// Each is a YAML file in `test/eval/scenarios`; docs/evaluation.md explains its keys.
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { REASON_CODES } from "../../../services/core/reasons/reasons.ts";

export interface ScenarioCall {
  readonly call: string;
  /** `{i}` in a text is the number of the round, from 1; a text that is JSON stays the model's text. */
  readonly args?: object | string;
  /** The output, if the call is allowed. */
  readonly output?: unknown;
  readonly error?: { readonly message: string; readonly code?: string };
  /** Nobody reports the outcome. */
  readonly unreported?: boolean;
  readonly says?: string;
  readonly step?: string;
  readonly id?: string;
  readonly confirmation?: string;
  /** `allowed` (default), `held`, or the reason of the refusal. */
  readonly expect?: string;
  /** Reasons that the model is warned of. */
  readonly warns?: readonly string[];
  /** Escalation level of the refusal. */
  readonly level?: number;
  /** The refusal carries the earlier result. */
  readonly answered?: boolean;
}

export type ScenarioStep =
  | ScenarioCall
  | { readonly after_s: number }
  | { readonly turn: number | null }
  | { readonly restart: true }
  | { readonly verdict: "approve" | "deny"; readonly gives: string }
  | { readonly times: number; readonly steps: readonly ScenarioStep[] };

export interface Scenario {
  readonly name: string;
  /** What a user of a guard complained about, and where. */
  readonly complaint: string;
  /** `positive`: something must be stopped; `negative`: nothing may be. */
  readonly kind: "positive" | "negative";
  readonly policy: object;
  readonly steps: readonly ScenarioStep[];
}

const DIRECTORY = fileURLToPath(new URL("../../eval/scenarios", import.meta.url));

/** All scenarios by name. A directory without any is an error, since it would prove nothing. */
export function readScenarios(): readonly Scenario[] {
  const files = readdirSync(DIRECTORY).filter((name) => name.endsWith(".yaml"));
  if (files.length === 0) throw new Error(`there is no scenario in ${DIRECTORY}`);
  return files.sort().map((file) => readScenario(join(DIRECTORY, file)));
}

function readScenario(path: string): Scenario {
  const read = parse(readFileSync(path, "utf8")) as Omit<Scenario, "name">;
  const scenario = { ...read, name: basename(path, ".yaml") };
  const { complaint, kind, policy } = scenario;
  if (typeof complaint !== "string" || typeof policy !== "object") {
    throw new Error(`${path}: \`complaint\` and \`policy\` are needed`);
  }
  const stops = callsOf(scenario.steps).filter(({ expect = "allowed" }) => expect !== "allowed");
  const refusals = stops.filter(({ answered }) => answered !== true);
  if (kind === "negative" ? refusals.length > 0 : callsOf(scenario.steps).every(isQuiet)) {
    throw new Error(`${path}: it is not \`${kind}\`: see what its calls expect`);
  }
  for (const { expect, warns = [] } of callsOf(scenario.steps)) {
    for (const word of [expect ?? "allowed", ...warns]) checkOutcome(path, word);
  }
  return scenario;
}

function isQuiet({ expect = "allowed", warns = [] }: ScenarioCall): boolean {
  return expect === "allowed" && warns.length === 0;
}

function checkOutcome(path: string, word: string): void {
  const outcomes: readonly string[] = ["allowed", "held", ...REASON_CODES];
  if (!outcomes.includes(word)) throw new Error(`${path}: there is no outcome \`${word}\``);
}

export function callsOf(steps: readonly ScenarioStep[]): readonly ScenarioCall[] {
  return steps.flatMap((step): readonly ScenarioCall[] => {
    if ("call" in step) return [step];
    return "steps" in step ? callsOf(step.steps) : [];
  });
}
