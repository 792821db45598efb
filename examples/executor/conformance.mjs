// The handler that `callgate conformance executor` calls: it posts each call to the tool of the run.

/**
 * @typedef {{ readonly idempotencyKey: string, readonly decisionId: string, readonly signal: AbortSignal }} CallContext
 * @typedef {Readonly<Record<string, unknown>>} Args
 */

/** @type {Record<string, (args: Args, call: CallContext) => Promise<unknown>>} */
export const handlers = {
  conformance_effect: async (args, { decisionId, idempotencyKey, signal }) => {
    const answer = await fetch(process.env["CALLGATE_CONFORMANCE_URL"] ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ decisionId, idempotencyKey, arguments: args }),
      signal,
    });
    if (!answer.ok) throw Object.assign(new Error("refused"), { status: answer.status });
    return answer.json();
  },
};
