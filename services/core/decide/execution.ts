/**
 * Determines the intended execution that a call belongs to. Its retries share one idempotency key,
 * so that the server downstream answers them from its own memory; an intended repeat opens a new
 * one.
 *
 * EXECUTION-1 a call that may have taken effect continues under its key, whoever proposes it again
 * and confirms it: a new key needs a known outcome.
 */
import type { CallContext } from "../checks/check.ts";
import { isRepeatMeant } from "../checks/duplicate.ts";
import type { Execution } from "../events.ts";
import { mayHaveActed } from "../state/doubts.ts";
import { executionOf } from "../state/prior-calls.ts";
import type { PriorCall } from "../state/state.ts";
import { changedSince } from "../state/writes.ts";

export function findExecution(call: CallContext): Execution {
  const { priorCall } = call;
  if (priorCall === undefined || !goesOn(call, priorCall)) {
    return { decisionId: call.decisionId, openedAtMs: call.nowMs, attempt: 1 };
  }
  const { decisionId, openedAtMs, attempt } = executionOf(priorCall);
  return { decisionId, openedAtMs, attempt: attempt + 1 };
}

function goesOn(call: CallContext, priorCall: PriorCall): boolean {
  if (call.tool.isRead) return false;
  if (call.nowMs >= executionOf(priorCall).openedAtMs + call.policy.idempotencyTtlMs) return false;
  if (mayHaveActed(priorCall)) return true;
  if (call.isConfirmed) return false;
  switch (priorCall.status) {
    case "not_executed":
      return priorCall.trouble.effect !== "none";
    case "succeeded":
      return isLateRetry(call, priorCall);
    case "failed":
    case "unknown":
    case "in_flight":
    case "held":
      return false;
  }
}

/** A write repeated after its window, with nothing to say that it is meant. */
function isLateRetry(call: CallContext, priorCall: PriorCall): boolean {
  const { tool, dependsOn: resources, nowMs } = call;
  if (isRepeatMeant(tool) || nowMs < priorCall.windowUntilMs) return false;
  const dependent = { actionKey: call.actionKey, isRead: false, resources };
  return !changedSince(call.state, dependent, priorCall.n, nowMs);
}
