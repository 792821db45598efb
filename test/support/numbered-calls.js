// In plain JavaScript, as programs that tests start again and again run it: see propose-until-killed.js.

/** @typedef {import("../../services/client/api/gate-types.ts").ProposedCall} ProposedCall */

export const CALLS_IN_FLIGHT = 16;

const ORDERS = 50;
const CONVERSATIONS = 20;

export const PAY_POLICY = /** @type {const} */ ({
  authorization: { tiers: [{ name: "removals", pattern: "delete_*", action: "hitl" }] },
  tool_schemas: { pay: { effects: [{ resource: "order/{order}/payment", kind: "charge" }] } },
});

/** Pays each order once in all conversations. */
export const TENANT_PAY_POLICY = /** @type {const} */ ({
  ...PAY_POLICY,
  tool_schemas: {
    pay: { effects: [{ resource: "order/{order}/payment", kind: "charge", scope: "tenant" }] },
  },
});

/**
 * Returns the same call for the same number, in every process; many pay an order twice.
 * @param {number} number
 * @returns {ProposedCall}
 */
export function numberedCall(number) {
  return {
    conversationId: `conversation-${number % CONVERSATIONS}`,
    turn: 1,
    step: number,
    callId: `call-${number}`,
    tool: number % 31 === 30 ? "delete_order" : "pay",
    arguments: { order: String(number % ORDERS), amount: number % 3 },
  };
}
