// Compiled in a project that has installed the packed package: its types must stand on their own.
import { isRefused, openCallgate } from "callgate";
import { type ConnectOptions, connectCallgate } from "callgate/client";

const gate = await openCallgate({ policy: "policy.yaml", dataDir: false });
const decision = await gate.propose({
  conversationId: "c",
  tool: "get_order",
  arguments: { id: "A-1" },
});
const outcome: "allowed" | "refused" | "held" = decision.outcome;
// After a look at the outcome nothing of this may be undefined.
if (decision.outcome === "allowed") await gate.awaitResult(decision.decisionId);
else console.log(decision.refusal.message);
if (decision.outcome === "held") await gate.approve(decision.approvalId, { by: "ann" });
const stop: () => void = gate.onDecision(({ outcome: decided }, { conversationId, agentId }) => {
  console.log(decided, conversationId, agentId ?? "nobody");
});
stop();
const tools = gate.guard(
  { get_order: async ({ id }: { id: string }) => ({ id, paid: true }) },
  { conversationId: "c" },
);
const order = await tools.get_order({ id: "A-1" });
export const paid: boolean | typeof outcome = isRefused(order) ? outcome : order.paid;
await gate.close();

export const connect = (options: ConnectOptions) => connectCallgate(options);
