import type { ProcessMetrics } from "../adapters/metrics/process-metrics.ts";
import type { GateHost } from "./gate-host.ts";

/** Shows how many conversations the gate of this process has. */
export function watchConversations(metrics: ProcessMetrics, gate: GateHost): void {
  metrics.watch(
    "conversations",
    "open conversations of the gate: in memory, or in its state store alone",
    ["where"],
    () => {
      const { memory, store } = gate.conversations();
      return [
        { labels: { where: "memory" }, value: memory },
        { labels: { where: "store" }, value: store },
      ];
    },
  );
}
