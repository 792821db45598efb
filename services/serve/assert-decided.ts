import type { Decision } from "../client/api/gate-types.ts";
import { Problem } from "./http/problem.ts";

/** @throws Problem 503 where the gate did not decide: no answer is no permission. */
export function assertDecided(decision: Decision): void {
  if (decision.outcome !== "refused" || decision.refusal.reason !== "gate_unavailable") return;
  const { callId, refusal } = decision;
  const { detail = "timeout", problem } = refusal;
  throw new Problem({
    status: 503,
    code: "gate_unavailable",
    detail: `the gate did not decide (${detail})${problem === undefined ? "" : `: ${problem}`}`,
    remedy: `Send the proposal again with \`callId\`: \`${callId}\`. Until then the call is not allowed`,
    retryAfter: 1,
  });
}
