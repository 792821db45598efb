// A program with the embedded gate. It proposes numbered calls, prints each answer as a JSON line, and stops
// at the first call that the gate cannot decide; then it leaves the gate open until its input ends. With
// enough space it proposes at least the given number of calls, and more until its input ends. Started again
// on the same directory, it proposes all of them again.
import { openCallgate } from "../../../services/library/callgate.ts";

const REFUSED_EVERY = 8;

const [dataDir = "", callsMin = "0"] = process.argv.slice(2);
let hasInputEnded = false;
const inputEnd = new Promise<void>((resolve) => {
  process.stdin.resume().once("end", () => {
    hasInputEnded = true;
    resolve();
  });
});
const policy = { tool_schemas: { note: { read_only: true } } };
const gate = await openCallgate({ policy, dataDir, timeoutMs: 1_000 });
for (let number = 0; number < Number(callsMin) || !hasInputEnded; number += 1) {
  const tool = number % REFUSED_EVERY === 0 ? "no_such_tool" : "note";
  const call = { conversationId: `c-${number % 4}`, callId: `call-${number}`, tool };
  const text = "x".repeat(10_000);
  const answer = await gate.propose({ ...call, arguments: { text, number } }).then(
    ({ outcome, decisionId, refusal }) => ({ outcome, decisionId, reason: refusal?.reason }),
    ({ code }) => ({ outcome: "failed", decisionId: undefined, reason: code }),
  );
  process.stdout.write(`${JSON.stringify({ ...answer, atMs: Date.now() })}\n`);
  if (answer.decisionId === undefined) break;
}
await inputEnd;
await gate.close();
