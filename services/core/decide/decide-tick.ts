/**
 * Decides a tick: expired holds are refused, and calls past their deadline without a result have an
 * unknown outcome.
 */
import type { GateEvent } from "../events.ts";
import type { CompiledPolicy } from "../policy/compiled.ts";
import { dueCalls } from "../state/deadline.ts";
import type { ConversationState, OpenCall } from "../state/state.ts";
import { refuseHeld } from "./refuse-held.ts";

export function decideTick(
  state: ConversationState,
  policy: CompiledPolicy,
  nowMs: number,
): readonly GateEvent[] {
  return dueCalls(state, nowMs).map((call) => due(state, call, policy, nowMs));
}

function due(
  state: ConversationState,
  call: OpenCall,
  policy: CompiledPolicy,
  nowMs: number,
): GateEvent {
  if (call.held !== null) {
    return refuseHeld(state, call.held, policy, nowMs, {
      reason: "approval_expired",
      by: [],
      detail: null,
      denial: null,
    });
  }
  return {
    type: "outcome_unknown",
    tenantId: state.tenantId,
    conversationId: state.conversationId,
    decisionId: call.decisionId,
    callId: call.callId,
    tool: call.tool,
    atMs: nowMs,
  };
}
