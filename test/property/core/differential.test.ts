// Compares the engine with a second one that was written from the documentation and stores whole
// histories: every answer to every input of a random history must be the same.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decide } from "../../../services/core/decide/decide.ts";
import type { GateEvent } from "../../../services/core/events.ts";
import type { GateInput } from "../../../services/core/inputs.ts";
import { evolve } from "../../../services/core/state/evolve.ts";
import type { ConversationState } from "../../../services/core/state/state.ts";
import { compiled } from "../../support/core/compile.ts";
import { SUBJECTS, type Subject } from "../../support/core/policies.ts";
import { type Act, Actor, acts } from "../../support/core/random-history.ts";
import { type Answer, answerOf } from "../../support/reference-engine/answer.ts";
import { MODELLED_REASONS } from "../../support/reference-engine/modelled-reasons.ts";
import { ReferenceEngine } from "../../support/reference-engine/reference-engine.ts";

/**
 * Set both for a longer search: a failure prints seed, path and the shortest history that differs.
 */
const SEED = Number(process.env["CALLGATE_SEED"] ?? 20_260_101);
const HISTORIES = Number(process.env["CALLGATE_RUNS"] ?? 150);

/**
 * The reasons that random histories have produced: a comparison without a reason proves nothing
 * about it.
 */
const SEEN_CODES = new Set<string>();

interface Line {
  readonly atMs: number;
  readonly input: GateInput;
  readonly engine: readonly Answer[];
  readonly reference: readonly Answer[];
}

function sorted(answers: readonly Answer[]): readonly Answer[] {
  return [...answers].sort((a, b) => ((a.decisionId ?? "") < (b.decisionId ?? "") ? -1 : 1));
}

/** Runs the history through both as long as they agree; the last line shows where they did not. */
function run(
  policy: ReturnType<typeof compiled>,
  { tools, arguments: texts }: Subject,
  history: readonly Act[],
) {
  const actor = new Actor(tools, texts);
  const reference = new ReferenceEngine(policy);
  const lines: Line[] = [];
  let state: ConversationState | undefined;
  for (const act of history) {
    for (const input of actor.inputs(act)) {
      const events: readonly GateEvent[] = decide(state, input, policy, actor.atMs);
      for (const event of events) state = evolve(state, event);
      actor.note(events);
      const engine = sorted(events.map(answerOf));
      for (const answer of engine) note(answer);
      const expected = sorted(reference.answer(input, actor.atMs));
      lines.push({ atMs: actor.atMs, input, engine, reference: expected });
      if (JSON.stringify(engine) !== JSON.stringify(expected)) {
        return { agree: false, lines, tail: lines.at(-1) };
      }
    }
  }
  return { agree: true, lines, tail: undefined };
}

function note({ outcome, reason, warnings = [], shadow = [] }: Answer): void {
  for (const code of [outcome, reason, ...warnings, ...shadow])
    if (code !== undefined) SEEN_CODES.add(code);
}

function describeLines(lines: readonly Line[]): string {
  return lines
    .map(({ atMs, input, engine, reference }) => {
      const about =
        input.type === "proposal"
          ? `${input.tool} ${input.arguments} turn=${input.turn} step=${input.step} ${input.callId} ${input.confirmation ?? ""}`
          : JSON.stringify(input);
      const same = JSON.stringify(engine) === JSON.stringify(reference);
      const differs = same ? "" : `\n    reference: ${JSON.stringify(reference)}`;
      return `${atMs} ${about}\n    engine:    ${JSON.stringify(engine)}${differs}`;
    })
    .join("\n");
}

describe("the engine and the reference engine give the same answers", () => {
  test.each(SUBJECTS)("$name", (subject) => {
    const { name } = subject;
    const policy = compiled(subject.document);
    const outcome = fc.check(
      fc.property(acts, (history) => run(policy, subject, history).agree),
      { seed: SEED, numRuns: HISTORIES },
    );
    const counterexample = outcome.counterexample?.[0];
    const report =
      counterexample === undefined ? "" : describeLines(run(policy, subject, counterexample).lines);
    expect(report, `${name}, seed ${outcome.seed}, path ${outcome.counterexamplePath}`).toBe("");
  });

  test("in histories that produce every decision except those of bounds and envelopes", () => {
    const elsewhere = [
      "too_large",
      "misrouted",
      "unauthenticated",
      "overloaded",
      "history_full",
      "internal_error",
    ];
    const possible = MODELLED_REASONS.filter((reason) => !elsewhere.includes(reason));
    const outcomes = [
      "allowed",
      "held",
      "refused",
      "repeated held",
      "outcome_unknown",
      "reconciled",
    ];
    expect([...possible, ...outcomes].filter((code) => !SEEN_CODES.has(code))).toEqual([]);
  });
});
