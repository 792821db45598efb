import { expect, test } from "vitest";
import { createProcessMetrics } from "../../../../services/adapters/metrics/process-metrics.ts";

const linesOf = async (metrics: { text(): Promise<string> }, name: string) =>
  (await metrics.text()).split("\n").filter((line) => line.startsWith(`callgate_${name}`));

test("exports all counters and histograms from the start, so that rates work", async () => {
  const metrics = createProcessMetrics("gate");
  expect(await linesOf(metrics, "inputs")).toEqual(['callgate_inputs_total{service="gate"} 0']);
  metrics.count("inputs", 5);
  metrics.count("inputs");
  metrics.observe("commit", 3);
  expect(await linesOf(metrics, "inputs")).toEqual(['callgate_inputs_total{service="gate"} 6']);
  const commits = await linesOf(metrics, "commit_seconds");
  expect(commits).toContain('callgate_commit_seconds_bucket{le="0.0025",service="gate"} 0');
  expect(commits).toContain('callgate_commit_seconds_bucket{le="0.005",service="gate"} 1');
  expect(commits).toContain('callgate_commit_seconds_sum{service="gate"} 0.003');
});

test("labels the counters of some processes", async () => {
  const metrics = createProcessMetrics("gate");
  metrics.add("policy_loads", "loads", { outcome: "loaded" });
  metrics.add("policy_loads", "loads", { outcome: "refused" }, 2);
  expect(await linesOf(metrics, "policy_loads")).toEqual([
    'callgate_policy_loads_total{outcome="loaded",service="gate"} 1',
    'callgate_policy_loads_total{outcome="refused",service="gate"} 2',
  ]);
});

test("reads a gauge at each scrape, and drops label sets that are gone", async () => {
  const metrics = createProcessMetrics("gate");
  let states = ["running", "restoring"];
  metrics.watch("partitions", "by state", ["state"], () =>
    states.map((state) => ({ labels: { state }, value: 1 })),
  );
  expect(await linesOf(metrics, "partitions")).toHaveLength(2);
  states = ["running"];
  expect(await linesOf(metrics, "partitions")).toEqual([
    'callgate_partitions{state="running",service="gate"} 1',
  ]);
});

test("measures the process itself and its event loop", async () => {
  const text = await createProcessMetrics("gate").text();
  expect(text).toContain("nodejs_eventloop_lag_p99_seconds");
  expect(text).toContain("process_resident_memory_bytes");
});
