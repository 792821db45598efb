// A gate in a process of its own: `gate-child.ts BROKERS NAMES GROUP`. Prints a line when it is ready and
// whenever a partition changes its state; ends on SIGTERM.
import type { TopicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import { openTestGate, SHORT_SESSION_MS, untilReady } from "./test-gate.ts";

const [brokers = "", names = "{}", group = ""] = process.argv.slice(2);

function print(line: unknown): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

const gate = await openTestGate(brokers.split(","), JSON.parse(names) as TopicNames, {
  group,
  sessionTimeoutMs: SHORT_SESSION_MS,
});
gate.host.onStatus(({ state, detail }, partition) => print({ partition, state, detail }));
void gate.host.failed.then(({ message }) => {
  print({ failed: message });
  process.exitCode = 1;
});
process.once("SIGTERM", () => void gate.stop());
await gate.host.start();
await untilReady(gate);
print({ ready: true });
