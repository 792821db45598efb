/**
 * Which meant execution a call belongs to. Its retries share one idempotency key, so that downstream
 * answers them from its own memory; a repeat that is meant opens a new one.
 */
import type { CallContext } from "../checks/check.ts";
import { isRetryable } from "../checks/retry.ts";
import type { Occurrence } from "../events.ts";
import type { Twin } from "../state/state.ts";
import { changedSince } from "../state/writes.ts";

export function occurrenceOf(call: CallContext): Occurrence {
  const { twin } = call;
  if (twin === undefined || !goesOn(call, twin)) {
    return { decisionId: call.decisionId, openedAtMs: call.nowMs, attempt: 1 };
  }
  return { ...twin.occurrence, attempt: twin.occurrence.attempt + 1 };
}

function goesOn(call: CallContext, twin: Twin): boolean {
  if (call.covered || call.tool.isRead) return false;
  if (call.nowMs >= twin.occurrence.openedAtMs + call.policy.idempotencyTtlMs) return false;
  switch (twin.status) {
    case "unknown":
    case "not_executed":
      return true;
    case "failed":
      return twin.transient || (call.tool.retries !== null && isRetryable(call.tool.retries, twin));
    case "succeeded":
      return isLateRetry(call, twin);
    case "in_flight":
    case "held":
      return false;
  }
}

/** A write repeated after its window, with nothing to say that it is meant. */
function isLateRetry(call: CallContext, twin: Twin): boolean {
  const { tool, dependsOn: resources, nowMs } = call;
  if (tool.repeatable || tool.bare || nowMs < twin.windowUntilMs) return false;
  const dependent = { actionKey: call.actionKey, isRead: false, resources };
  return !changedSince(call.state, dependent, twin.n, nowMs);
}
