// Plays scenarios through the library and counts right and wrong decisions.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Decision, ProposedCall } from "../../../services/client/api/gate-types.ts";
import { GateStory, outcomeOf } from "./gate-story.ts";
import type { Scenario, ScenarioCall, ScenarioStep } from "./scenario.ts";

export interface Played {
  readonly name: string;
  readonly kind: Scenario["kind"];
  readonly calls: number;
  /**
   * Calls that were stopped or warned of rightly; that should have been; that should not have been.
   */
  readonly rightlyStopped: number;
  readonly missed: number;
  readonly wronglyStopped: number;
  /** Differences from the scenario: `call 7 (get_x): allowed instead of loop_repeat`. */
  readonly wrong: readonly string[];
}

export async function playScenario(scenario: Scenario): Promise<Played> {
  const dataDir = mkdtempSync(join(tmpdir(), "callgate-scenario-"));
  try {
    const story = await GateStory.open({ policy: scenario.policy, dataDir });
    try {
      const player = new Player(story);
      await player.playAll(scenario.steps);
      return { name: scenario.name, kind: scenario.kind, ...player.counts() };
    } finally {
      await story.close();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

class Player {
  readonly #story: GateStory;
  readonly #wrong: string[] = [];
  #calls = 0;
  #rightlyStopped = 0;
  #missed = 0;
  #wronglyStopped = 0;
  #held: Decision | undefined;

  constructor(story: GateStory) {
    this.#story = story;
  }

  counts(): Omit<Played, "name" | "kind"> {
    return {
      calls: this.#calls,
      rightlyStopped: this.#rightlyStopped,
      missed: this.#missed,
      wronglyStopped: this.#wronglyStopped,
      wrong: this.#wrong,
    };
  }

  /** An error of the gate itself counts as a wrong decision, and ends the scenario. */
  async playAll(steps: readonly ScenarioStep[]): Promise<void> {
    try {
      await this.play(steps, 0);
    } catch (error) {
      this.#wrong.push(`call ${this.#calls}: ${error instanceof Error ? error.message : error}`);
    }
  }

  async play(steps: readonly ScenarioStep[], round: number): Promise<void> {
    for (const step of steps) {
      if ("call" in step) await this.#call(step, round);
      else if ("after_s" in step) this.#story.after(step.after_s * 1_000);
      else if ("turn" in step) this.#turn(step.turn, round);
      else if ("restart" in step) await this.#story.restart();
      else if ("verdict" in step) await this.#verdict(step.verdict, step.gives);
      else for (let i = 1; i <= step.times; i++) await this.play(step.steps, i);
    }
  }

  /** `turn: 0` inside rounds begins a new turn in each round. */
  #turn(turn: number | null, round: number): void {
    this.#story.turn(turn === null ? undefined : turn === 0 ? `round-${round}` : turn);
  }

  async #verdict(kind: "approve" | "deny", gives: string): Promise<void> {
    const id = this.#held?.approvalId ?? "";
    const verdict = { by: "ann", reason: "looked at it" };
    const decision = await this.#story.gate[kind](id, verdict);
    this.#expect(`verdict ${kind}`, outcomeOf(decision), gives);
    if (decision.outcome === "allowed") {
      await this.#story.report(decision, { status: "succeeded", output: "done" });
    }
  }

  async #call(step: ScenarioCall, round: number): Promise<void> {
    this.#calls += 1;
    const filled = fill(step, round);
    const decision = await this.#story.propose(
      filled.call,
      filled.args ?? {},
      makeOverrides(filled),
    );
    if (decision.outcome === "held") this.#held = decision;
    this.#count(filled, decision);
    this.#compare(filled, decision);
    if (decision.outcome !== "allowed" || filled.unreported === true) return;
    const { error, output } = filled;
    const report =
      error === undefined
        ? ({ status: "succeeded", output } as const)
        : ({ status: "failed", error } as const);
    await this.#story.report(decision, report);
  }

  #count({ expect = "allowed", warns = [] }: ScenarioCall, decision: Decision): void {
    const wanted = expect !== "allowed" || warns.length > 0;
    const spoke = decision.outcome !== "allowed" || decision.warnings.length > 0;
    if (wanted && spoke) this.#rightlyStopped += 1;
    else if (wanted) this.#missed += 1;
    else if (spoke) this.#wronglyStopped += 1;
  }

  #compare(step: ScenarioCall, decision: Decision): void {
    const name = `call ${this.#calls} (${step.call})`;
    this.#expect(name, outcomeOf(decision), step.expect ?? "allowed");
    const warned = decision.warnings.map(({ reason }) => reason).join(" ");
    this.#expect(`${name}, warned of`, warned, (step.warns ?? []).join(" "));
    if (step.level !== undefined) {
      this.#expect(`${name}, level`, String(decision.refusal?.level), String(step.level));
    }
    if (step.answered === true && decision.refusal?.previousResult == null) {
      this.#wrong.push(`${name}: the earlier result is missing`);
    }
  }

  #expect(what: string, actual: string, wanted: string): void {
    if (actual !== wanted) this.#wrong.push(`${what}: \`${actual}\` instead of \`${wanted}\``);
  }
}

function makeOverrides({ says, step, id, confirmation }: ScenarioCall): Partial<ProposedCall> {
  return {
    ...(says === undefined ? {} : { assistantText: says }),
    ...(step === undefined ? {} : { step }),
    ...(id === undefined ? {} : { callId: id }),
    ...(confirmation === undefined ? {} : { confirmation }),
  };
}

function fill(step: ScenarioCall, round: number): ScenarioCall {
  return JSON.parse(JSON.stringify(step).replaceAll("{i}", String(round))) as ScenarioCall;
}

export interface CorpusFigures {
  readonly scenarios: number;
  readonly right: number;
  readonly calls: number;
  /** The share of right ones among the stopped and warned calls, 0 to 1. */
  readonly precision: number;
  /** The share of the calls that had to be stopped or warned of and were, 0 to 1. */
  readonly recall: number;
}

export function figuresOfCorpus(played: readonly Played[]): CorpusFigures {
  const sum = (of: (one: Played) => number): number =>
    played.reduce((total, one) => total + of(one), 0);
  const right = sum(({ rightlyStopped }) => rightlyStopped);
  return {
    scenarios: played.length,
    right: played.filter(({ wrong }) => wrong.length === 0).length,
    calls: sum(({ calls }) => calls),
    precision: right / Math.max(1, right + sum(({ wronglyStopped }) => wronglyStopped)),
    recall: right / Math.max(1, right + sum(({ missed }) => missed)),
  };
}
