/** What callers without types hand over as a report, checked before anything is written. */

import { FAILURE_EFFECTS, type Money, RESULT_STATUSES } from "../core/inputs.ts";
import { costProblem } from "../wire/input-rules.ts";
import type { CallReport } from "./call-report.ts";
import { CallgateError } from "./callgate-error.ts";
import { memberProblem } from "./members.ts";

const MEMBERS: Readonly<Record<keyof CallReport, true>> = {
  status: true,
  effect: true,
  output: true,
  error: true,
  durationMs: true,
  cost: true,
};

/** @throws CallgateError `invalid_input` */
export function checkReport(report: CallReport): void {
  const given: Partial<Record<keyof CallReport, unknown>> = report;
  const unknown = memberProblem(given, Object.keys(MEMBERS));
  if (unknown !== undefined) throw invalid(unknown);
  if (!(RESULT_STATUSES as readonly unknown[]).includes(given.status)) {
    throw invalid(`\`status\` must be one of ${RESULT_STATUSES.join(", ")}`);
  }
  const { durationMs, cost, error, effect } = given;
  if (effect !== undefined) checkEffect(effect, given.status);
  if (durationMs !== undefined && !isDuration(durationMs)) {
    throw invalid("`durationMs` must be a number of milliseconds below 2^53");
  }
  if (cost !== undefined) checkCost(cost);
  if (error === undefined) return;
  if (typeof error !== "object" || error === null) {
    throw invalid("`error` must be an object with a `message`");
  }
}

function checkEffect(effect: unknown, status: unknown): void {
  if (!(FAILURE_EFFECTS as readonly unknown[]).includes(effect)) {
    throw invalid(`\`effect\` must be one of ${FAILURE_EFFECTS.join(", ")}`);
  }
  if (status !== "failed") throw invalid("`effect` is of a call with the status `failed`");
}

function checkCost(value: unknown): void {
  const problem =
    typeof value === "object" && value !== null
      ? (memberProblem(value, ["microUnits", "currency"]) ?? costProblem(value as Money, "cost"))
      : "`cost` must be { microUnits: whole number, currency: text }";
  if (problem !== undefined) throw invalid(problem);
}

function isDuration(value: unknown): boolean {
  return typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

function invalid(problem: string): CallgateError {
  return new CallgateError("invalid_input", `the result cannot be reported: ${problem}`);
}
