// An agent and its gate in one process. Replace `MODEL` with your model, `functions` with your tools and
// `askPerson` with your way to ask somebody.
import { fileURLToPath } from "node:url";
import { type HandlerCall, isRefused, openCallgate, type Refused, wasAnswered } from "callgate";

type ToolName = "get_order" | "charge_card" | "delete_customer";
type ToolCall = { readonly id: string; readonly tool: ToolName; readonly arguments: string };

/** What a model asks for, one step after the other: JSON text, as models write it. */
const MODEL: readonly ToolCall[] = [
  { id: "call_1", tool: "get_order", arguments: '{"order_id":"7"}' },
  { id: "call_2", tool: "get_order", arguments: '{"order_id":"7"}' },
  { id: "call_3", tool: "charge_card", arguments: '{"order_id":"7","amount":"100.00"}' },
  { id: "call_4", tool: "charge_card", arguments: '{"amount":"100","order_id":"7"}' },
  { id: "call_5", tool: "delete_customer", arguments: '{"customer_id":"ann"}' },
];

const policy = fileURLToPath(new URL("policy.yaml", import.meta.url));
const gate = await openCallgate({ policy, dataDir: false }); // without `dataDir: false` it keeps its log on disk

const functions = {
  get_order: async (args: { order_id: string }) => ({ order: args.order_id, total: "100.00" }),
  // Pass the key on: a service that honours it charges once, whatever fails on the way.
  charge_card: async (
    args: { order_id: string; amount: string },
    { idempotencyKey }: HandlerCall,
  ) => {
    return { receipt: `order ${args.order_id}: ${args.amount}`, key: idempotencyKey.length > 0 };
  },
  delete_customer: async (args: { customer_id: string }) => ({ deleted: args.customer_id }),
};
let step = 0;
const tools = gate.guard(functions, () => ({ conversationId: "chat-42", turn: 1, step }));

/**
 * A real program would show the call to a person with two buttons; the other one is `gate.deny`.
 */
async function askPerson({ approvalId }: Refused & { outcome: "held" }): Promise<void> {
  const [waiting] = await gate.pending({ conversationId: "chat-42" });
  console.log(`ask     ${waiting?.tool} ${JSON.stringify(waiting?.arguments)}`);
  await gate.approve(approvalId, { by: "bob", reason: "the customer asked for it in writing" });
}

/** Returns the text that the model reads next. */
async function runCall({ id, tool, arguments: args }: ToolCall): Promise<string> {
  const answer = await tools[tool](args, { callId: id });
  if (!isRefused(answer)) {
    console.log(`${wasAnswered(answer) ? "memory " : "ran    "} ${tool} ${JSON.stringify(answer)}`);
    return JSON.stringify(answer);
  }
  if (answer.outcome === "held") {
    await askPerson(answer);
    // The same call with its approval: it runs now, once.
    const approved = await tools[tool](args, { callId: id, approvalId: answer.approvalId });
    console.log(
      `${isRefused(approved) ? "refused" : "ran    "} ${tool} ${JSON.stringify(approved)}`,
    );
    return JSON.stringify(approved);
  }
  console.log(`refused ${tool}: ${answer.reason}`);
  return answer.message; // it is written for the model: show it as it is
}

const messages: string[] = [];
for (const call of MODEL) {
  step += 1;
  messages.push(await runCall(call));
}
console.log(`the model read ${messages.length} answers`);
await gate.close();
