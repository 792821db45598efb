/** Runs the checks. The first enforced finding decides; the others become advice. */
import type { CallContext, Finding } from "../checks/check.ts";
import { findLoopsOfAnswer } from "../checks/loops.ts";
import { CHECKS } from "../checks/order.ts";
import type { Advice } from "./advice.ts";

export function runChecks(call: CallContext, advice: Advice): Finding | null {
  for (const check of CHECKS) {
    const findings = check.find(call);
    if (findings.length === 0) continue;
    const decisive = findEnforced(call, findings, advice);
    if (decisive !== null)
      return decisive.answered ? loopInstead(call, decisive, advice) : decisive;
  }
  return null;
}

export function findEnforced(
  call: CallContext,
  findings: readonly Finding[],
  advice: Advice,
): Finding | null {
  for (const finding of findings) {
    const written = call.tool.modes[finding.reason];
    const mode = finding.warnsOnly && written === "enforce" ? "warn" : written;
    if (mode === "enforce") return finding;
    advice.add(mode, finding.reason, finding.rule, finding.detail);
  }
  return null;
}

/** Shows a read that memory would answer to the loop check first, whose reason then counts. */
function loopInstead(call: CallContext, answer: Finding, advice: Advice): Finding {
  const loop = findEnforced(call, findLoopsOfAnswer(call), advice);
  return loop === null ? answer : { ...loop, previous: answer.previous };
}
