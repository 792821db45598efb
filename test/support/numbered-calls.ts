import type { ProposedCall } from "../../services/client/api/gate-types.ts";

export const CALLS_IN_FLIGHT = 16;

const ORDERS = 50;
const CONVERSATIONS = 20;

export const PAY_POLICY = {
  authorization: { tiers: [{ name: "removals", pattern: "delete_*", action: "hitl" }] },
  tool_schemas: { pay: { effects: [{ resource: "order/{order}/payment", kind: "charge" }] } },
} as const;

/** The same call for the same number, in every process; many pay an order twice. */
export function numberedCall(number: number): ProposedCall {
  return {
    conversationId: `conversation-${number % CONVERSATIONS}`,
    turn: 1,
    step: number,
    callId: `call-${number}`,
    tool: number % 31 === 30 ? "delete_order" : "pay",
    arguments: { order: String(number % ORDERS), amount: number % 3 },
  };
}
