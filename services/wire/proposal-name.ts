import type { DecisionEvent } from "../core/events.ts";
import type { ProposalInput } from "../core/inputs.ts";

/** Whether the decision has the proposal's names and tool: they are written once then. */
export function isNamedBy(input: ProposalInput, decision: DecisionEvent): boolean {
  return (
    input.callId === decision.callId &&
    input.conversationId === decision.conversationId &&
    input.tenantId === decision.tenantId &&
    input.agentId === decision.agentId &&
    input.turn === decision.turn &&
    input.step === decision.step &&
    input.tool === decision.tool
  );
}
