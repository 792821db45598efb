/** Compares what a case expected of a call with the decision. */
import type { Expected } from "../../../adapters/policy/read-cases.ts";
import type { Notice } from "../../../core/decision.ts";
import type { DecisionEvent } from "../../../core/events.ts";
import { isReasonCode } from "../../../core/reasons/reasons.ts";
import { reasonOf } from "../../output/reason-of.ts";
import type { DecidedCaseCall } from "./run-case.ts";

export type Mismatch = {
  readonly what:
    | "outcome"
    | "reason"
    | "warnings"
    | "shadow"
    | "level"
    | "answered"
    | "verdict"
    | "answer"
    | "reconcile";
  /** Whether this is the decision after the verdict. */
  readonly afterVerdict: boolean;
  readonly expected: string;
  readonly actual: string;
  /** The number of the answer or reconciliation, from 1; absent: the mismatch is of the call. */
  readonly number?: number;
};

export function findMismatches(decided: DecidedCaseCall): readonly Mismatch[] {
  const { call, decision, final } = decided;
  const mismatches = [...findUnsettled(decided), ...compare(call.expect, decision, false)];
  // If the case expected a hold, the outcome mismatch already says so.
  if (call.verdicts.length > 0 && decision.type !== "held" && call.expect.outcome !== "held") {
    const [expected, actual] = ["held", decision.type];
    mismatches.push({ what: "verdict", afterVerdict: false, expected, actual });
  }
  mismatches.push(...findOtherAnswers(decided));
  if (call.finally !== null) mismatches.push(...compare(call.finally, final ?? decision, true));
  return mismatches;
}

/** Reconciliations that settled nothing. */
function findUnsettled({ reconciled }: DecidedCaseCall): readonly Mismatch[] {
  return reconciled.flatMap((actual, index) => {
    if (actual === "reconciled") return [];
    const position = { afterVerdict: false, number: index + 1 };
    return [{ what: "reconcile", ...position, expected: "reconciled", actual } as const];
  });
}

function findOtherAnswers({ call, answers }: DecidedCaseCall): readonly Mismatch[] {
  return answers.flatMap((actual, index) => {
    const expected = call.verdicts[index]?.expect ?? null;
    if (expected === null || isAnswer(expected, actual)) return [];
    return [{ what: "answer", afterVerdict: false, number: index + 1, expected, actual } as const];
  });
}

/** `refused` stands for every reason of a refusal. */
function isAnswer(expected: string, actual: string): boolean {
  if (expected === actual) return true;
  if (expected === "held") return actual === "approval_required";
  return expected === "refused" && isReasonCode(actual) && actual !== "approval_required";
}

function compare(expected: Expected, decision: DecisionEvent, afterVerdict: boolean): Mismatch[] {
  const mismatches: Mismatch[] = [];
  const check = (what: Mismatch["what"], wanted: unknown, got: unknown): void => {
    const [expectedText, actual] = [String(wanted), String(got)];
    if (wanted === undefined || expectedText === actual) return;
    mismatches.push({ what, afterVerdict, expected: expectedText, actual });
  };
  check("outcome", expected.outcome, outcomeText(expected, decision));
  // If the outcome differs, its reason adds nothing.
  if (mismatches.length === 0) check("reason", expected.reason, reasonOf(decision));
  const { warnings, shadow } = expected;
  check("warnings", warnings && listed(warnings), noticed(decision.notices.warnings));
  check("shadow", shadow && listed(shadow), noticed(decision.notices.shadow));
  if (decision.type === "refused") {
    check("level", expected.level, decision.refusal.level);
    check("answered", expected.answered, decision.answered !== null);
  } else {
    check("level", expected.level, 0);
    check("answered", expected.answered, false);
  }
  return mismatches;
}

/** The outcome, and its reason if it is not the expected one. */
function outcomeText(expected: Expected, decision: DecisionEvent): string {
  if (expected.outcome === decision.type) return decision.type;
  const reason = reasonOf(decision);
  return reason === null ? decision.type : `${decision.type} (${reason})`;
}

function noticed(notices: readonly Notice[]): string {
  return listed(notices.map(({ reason }) => reason));
}

function listed(reasons: readonly string[]): string {
  return reasons.length === 0 ? "none" : [...new Set(reasons)].sort().join(", ");
}
