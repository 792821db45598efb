// Outcomes of failed calls that may have taken effect, and of the other attempts of their action.
import type { ResultInput } from "../../../services/core/inputs.ts";
import { allowedPriorCalls, type Call, type History } from "./history.ts";

/** The call had no effect: this is no new failure, and its facts stay. */
export function settleFailure(history: History, call: Call, input: ResultInput | null): void {
  call.effect = "none";
  call.settled = history.length++;
  if (input?.cost != null) call.cost = input.cost;
  settleDoubts(history, call, true);
}

/** A report after the next attempt does not change the count of failures in a row. */
export function endInRow(
  history: History,
  call: Call,
  status: Call["status"],
  order: number,
): void {
  const isLatest = allowedPriorCalls(history, call).at(-1) === call;
  if (isLatest || call.end === null) call.end = { status, order: call.end?.order ?? order };
}

/**
 * A success, or a report on all attempts, ends the doubt about the earlier ones. A call that fails
 * and may have taken effect is in doubt itself.
 */
export function settleDoubts(history: History, call: Call, ends: boolean): void {
  const doubted = history.calls.filter((one) => one.inDoubt && one.actionKey === call.actionKey);
  if (call.status === "succeeded" || ends) endDoubts(doubted, call);
  if (call.status === "failed" && call.effect === "possible" && !call.tool.isRead) {
    for (const one of doubted) overtake(one, call);
    call.inDoubt = true;
  }
  if (ends) settleLatest(history, call);
}

function endDoubts(doubted: readonly Call[], by: Call): void {
  for (const one of doubted) {
    one.inDoubt = false;
    if (by.status !== "succeeded" && one !== by) one.effect = "none";
  }
  by.doubted = false;
}

/** The later attempt holds the resources that both hold. */
function overtake(earlier: Call, later: Call): void {
  earlier.inDoubt = false;
  earlier.exclusive = earlier.exclusive.filter(
    ({ resource }) => !later.exclusive.some((own) => own.resource === resource),
  );
}

/**
 * Ends the doubt about an earlier attempt: the latest counts alone, unless the earlier one
 * succeeded.
 */
function settleLatest(history: History, call: Call): void {
  const latest = allowedPriorCalls(history, call).at(-1);
  if (latest === undefined || latest === call || !latest.doubted) return;
  latest.doubted = call.status === "succeeded";
  if (latest.status === "not_executed" && !latest.doubted) latest.effect = "none";
  if (latest.status === "failed" && call.status === "not_executed") latest.effect = "none";
  const over =
    latest.status === "not_executed" || (latest.status === "failed" && latest.effect === "none");
  if (call.status !== "succeeded" || !over) return;
  latest.status = "succeeded";
  latest.effect = null;
  latest.doubted = false;
}
