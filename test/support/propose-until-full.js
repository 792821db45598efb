// A program whose disk fills up: proposes numbered calls until the gate cannot decide, and prints each
// answer as a JSON line.
import { openCallgate } from "callgate";

const CALLS_MAX = 500;

const [dataDir = ""] = process.argv.slice(2);
const policy = { tool_schemas: { note: { read_only: true } } };
const gate = await openCallgate({ policy, dataDir, timeoutMs: 15_000 });
for (let number = 0; number < CALLS_MAX; number += 1) {
  const call = { conversationId: "c", callId: `call-${number}`, tool: "note" };
  const text = "x".repeat(10_000);
  const answer = await gate.propose({ ...call, arguments: { text, number } }).then(
    ({ outcome, decisionId, refusal }) => ({ outcome, decisionId, refusal }),
    ({ code, message }) => ({ code, message }),
  );
  process.stdout.write(`${JSON.stringify(answer)}\n`);
  if (!("outcome" in answer) || answer.outcome !== "allowed") break;
}
await gate.close();
