/** Plays one scenario of Aura Guard in a gate of its own. */
import { type Callgate, openCallgate } from "../../../services/library/callgate.ts";
import type { AuraScenario, AuraStep } from "./aura-scenarios.ts";

export interface AuraRun {
  readonly id: string;
  readonly name: string;
  readonly calls: number;
  readonly run: number;
  /** Calls that ran without a warning to the model. */
  readonly runUnwarned: number;
  /** Side effects that happened a second time. */
  readonly doubled: number;
}

/** What tools return: another text for each call, or one text whatever they are asked. */
export type AuraOutputs = "each" | "same";

const START_MS = Date.UTC(2026, 0, 5, 9);
/** Time between two calls, and from a call to its result. */
const PAUSE_MS = 3_000;
const CALL_MS = 5;
const SECRET = "evaluation-of-aura-scenarios-0123";

export async function playAura(
  policy: object,
  scenario: AuraScenario,
  outputs: AuraOutputs,
): Promise<AuraRun> {
  const realNow = Date.now;
  let nowMs = START_MS;
  Date.now = () => nowMs;
  try {
    const gate = await openCallgate({ policy, dataDir: false, secret: SECRET });
    const counts = { calls: 0, run: 0, runUnwarned: 0, doubled: 0 };
    const done = new Set<string>();
    try {
      for (const step of scenario.steps.filter(({ type }) => type === "tool")) {
        nowMs += PAUSE_MS;
        counts.calls += 1;
        const decision = await propose(gate, step, counts.calls);
        if (decision.outcome !== "allowed") continue;
        counts.run += 1;
        if (decision.warnings.length === 0) counts.runUnwarned += 1;
        const action = `${step.name} ${JSON.stringify(step.args)}`;
        if (step.side_effect === true && done.has(action)) counts.doubled += 1;
        done.add(action);
        nowMs += CALL_MS;
        await report(gate, decision.decisionId, step, outputs === "same" ? step.name : action);
      }
      return { id: scenario.scenario_id, name: scenario.scenario_name, ...counts };
    } finally {
      await gate.close();
    }
  } finally {
    Date.now = realNow;
  }
}

function propose(gate: Callgate, { name, args }: AuraStep, number: number) {
  return gate.propose({
    conversationId: "scenario",
    ...{ turn: 1, step: number, callId: `call-${number}` },
    ...{ tool: name, arguments: args ?? {} },
  });
}

async function report(gate: Callgate, decisionId: string, step: AuraStep, subject: string) {
  const code = String(step.error_code);
  await gate.report(
    decisionId,
    step.result_ok === false
      ? { status: "failed", error: { message: code, code } }
      : { status: "succeeded", output: `result of ${subject}` },
  );
}
