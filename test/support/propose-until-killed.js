// A program that a test kills and starts again. Each time it proposes the same numbered calls, reports the
// allowed ones, and prints each answer as a JSON line. It runs the build, because transforming the sources at
// each start would take longer than everything else that it does.
import { openCallgate } from "callgate";
import { CALLS_IN_FLIGHT, numberedCall, PAY_POLICY, TENANT_PAY_POLICY } from "./numbered-calls.js";

const [dataDir = "", count = "0", use = "alone", scope = "conversation"] = process.argv.slice(2);
const policy = scope === "tenant" ? TENANT_PAY_POLICY : PAY_POLICY;
const gate = await openCallgate({ policy, dataDir, shared: use === "shared" });
let next = 0;

async function work() {
  while (next < Number(count)) {
    const number = next;
    next += 1;
    const decision = await gate.propose(numberedCall(number));
    process.stdout.write(`${JSON.stringify({ number, decision })}\n`);
    if (decision.outcome !== "allowed" || decision.decisionId === undefined) continue;
    await gate.report(decision.decisionId, { status: "succeeded", output: { paid: number } });
  }
}

await Promise.all(Array.from({ length: CALLS_IN_FLIGHT }, work));
await gate.close();
process.stdout.write('{"done":true}\n');
