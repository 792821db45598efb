// A program that asks a gate elsewhere: `hung-client.ts BROKERS NAMES`. Prints a line when it is connected, then waits for
// one on stdin; from then on nothing answers. It asks, closes its gate and has nothing more to do.
import { once } from "node:events";
import type { TopicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import { connectCallgate } from "../../../services/library/connect-callgate.ts";

const [brokers = "", names = "{}"] = process.argv.slice(2);
const CALL = { conversationId: "c1", turn: 1, tool: "pay", arguments: {} };

const gate = await connectCallgate({
  kafka: { brokers: brokers.split(","), topics: JSON.parse(names) as TopicNames },
  timeoutMs: 2_000,
});
process.stdout.write("connected\n");
await once(process.stdin, "data");
process.stdin.destroy();
const decision = await gate.propose({ ...CALL, callId: "a" });
const detail = decision.outcome === "refused" ? decision.refusal.detail : decision.outcome;
process.stdout.write(`${detail}\n`);
await gate.close({ timeoutMs: 500 });
process.stdout.write("closed\n");
