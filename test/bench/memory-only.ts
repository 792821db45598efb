/**
 * Memory of a gate without a data directory over refused calls: `tsx --expose-gc test/bench/memory-only.ts [calls] [KB] [conversations]`.
 * Prints what the process holds after each tenth of them.
 */
import { openCallgate } from "../../services/library/callgate.ts";

const MIB = 1024 * 1024;
const [calls = 100_000, kilobytes = 250, conversations = 1] = process.argv.slice(2).map(Number);
const gate = await openCallgate({
  policy: { tool_schemas: { read_page: { read_only: true } } },
  dataDir: false,
});
const body = "x".repeat(kilobytes * 1024 - 100);
const startedMs = performance.now();
for (let at = 1; at <= calls; at += 1) {
  const decision = await gate.propose({
    conversationId: `c-${at % conversations}`,
    tool: "drop_table",
    arguments: `{"n":${at},"body":"${body}"}`,
  });
  if (decision.outcome !== "refused") throw new Error(`call ${at} was ${decision.outcome}`);
  if (at % Math.max(1, Math.floor(calls / 10)) !== 0) continue;
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const [resident, heap, outside] = [rss, heapUsed, external].map((one) => Math.round(one / MIB));
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
  console.log(
    `${at} calls, ${seconds} s: rss ${resident} MiB, heap ${heap} MiB, external ${outside} MiB`,
  );
}
await gate.close();
