// Handlers of an executor: one function for each tool of infra/policies/demo.yaml. `callgate executor
// --handlers handlers.mjs` runs them for allowed calls; docker-compose.yml does too. These change nothing but
// their own memory: yours call the real thing, with the idempotency key in hand.

/**
 * @typedef {{ readonly idempotencyKey: string, readonly callId: string }} CallContext
 * @typedef {Readonly<Record<string, unknown>>} Args
 */

/** @type {Map<string, object>} */
const done = new Map();
let polls = 0;

/**
 * What a careful service does: for a repeated key it returns the first result.
 * @param {CallContext} call
 * @param {() => object} act
 */
function once({ idempotencyKey }, act) {
  const earlier = done.get(idempotencyKey);
  if (earlier !== undefined) return earlier;
  const result = act();
  done.set(idempotencyKey, result);
  return result;
}

/** @type {Record<string, (args: Args, call: CallContext) => object>} */
export const handlers = {
  create_document: (_args, call) => once(call, () => ({ id: `doc-${done.size + 1}` })),
  get_order: () => ({ total: "49.90" }),
  create_invoice: ({ order_id }, call) => once(call, () => ({ invoice: `inv-${order_id}` })),
  charge_card: ({ order_id }, call) => once(call, () => ({ receipt: `rec-${order_id}` })),
  pay: ({ to, amount, currency }, call) => once(call, () => ({ paid: { to, amount, currency } })),
  poll_export: () => {
    polls += 1;
    return { done: polls % 3 === 0 };
  },
  set_title: ({ page, title }, call) => once(call, () => ({ page, title })),
  publish_page: ({ page }, call) => once(call, () => ({ published: page })),
  delete_customer: ({ customer }, call) => once(call, () => ({ deleted: customer })),
};
