/**
 * Which meant execution a call belongs to. Its retries share one idempotency key, so that downstream
 * answers them from its own memory; a repeat that is meant opens a new one.
 *
 * O1 what may have taken effect goes on under its key, whoever asks for it again and confirms it: a
 *    new key needs an outcome that is known.
 */
import type { CallContext } from "../checks/check.ts";
import type { Occurrence } from "../events.ts";
import { mayHaveActed } from "../state/doubts.ts";
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
  if (call.tool.isRead) return false;
  if (call.nowMs >= twin.occurrence.openedAtMs + call.policy.idempotencyTtlMs) return false;
  if (mayHaveActed(twin)) return true;
  if (call.covered) return false;
  switch (twin.status) {
    case "not_executed":
      return twin.effect !== "none";
    case "succeeded":
      return isLateRetry(call, twin);
    case "failed":
    case "unknown":
    case "in_flight":
    case "held":
      return false;
  }
}

/** A write repeated after its window, with nothing to say that it is meant. */
function isLateRetry(call: CallContext, twin: Twin): boolean {
  const { tool, dependsOn: resources, nowMs } = call;
  if (tool.repeatable || tool.namesNoObject || nowMs < twin.windowUntilMs) return false;
  const dependent = { actionKey: call.actionKey, isRead: false, resources };
  return !changedSince(call.state, dependent, twin.n, nowMs);
}
