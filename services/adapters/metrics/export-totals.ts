/** Exports counters and histograms that another component maintains, in Prometheus' format. */
import { Registry } from "prom-client";

export type ExportedFamily = {
  /** Without the prefix `callgate_`. */
  readonly name: string;
  readonly help: string;
  /** Upper bounds, ascending; null: a counter. */
  readonly bounds: readonly number[] | null;
  readonly samples: readonly ExportedSample[];
};

export type ExportedSample = {
  readonly labels: Readonly<Record<string, string>>;
  /** The value of a counter, or the sum of a histogram. */
  readonly value: number;
  /** Observations by bound, the last one above all bounds; not cumulative. */
  readonly buckets?: readonly number[];
};

const PREFIX = "callgate_";

type Value = { labels: Record<string, string | number>; value: number; metricName?: string };

/**
 * Creates a registry that calls `read` at each scrape. The metric classes of prom-client count from
 * zero and cannot continue an earlier process's totals, so plain objects with the metrics' answers
 * are registered instead.
 */
export function exportTotals(read: () => readonly ExportedFamily[]): Registry {
  const registry = new Registry();
  for (const { name } of read()) {
    const metric = {
      name: PREFIX + name,
      get: () => Promise.resolve(answerOf(read().find((family) => family.name === name))),
      reset: () => undefined,
    };
    registry.registerMetric(metric as never);
  }
  return registry;
}

function answerOf(family: ExportedFamily | undefined): object {
  if (family === undefined) return { name: "", help: "", type: "counter", values: [] };
  const { name, help, bounds, samples } = family;
  const metricName = PREFIX + name;
  return {
    ...{ name: metricName, help, aggregator: "sum" },
    type: bounds === null ? "counter" : "histogram",
    values: samples.flatMap((sample) =>
      bounds === null
        ? [{ labels: { ...sample.labels }, value: sample.value }]
        : histogramValues(metricName, bounds, sample),
    ),
  };
}

function histogramValues(
  metricName: string,
  bounds: readonly number[],
  { labels, value, buckets = [] }: ExportedSample,
): readonly Value[] {
  let count = 0;
  const values: Value[] = bounds.map((bound, index) => {
    count += buckets[index] ?? 0;
    const at = { ...labels, le: bound };
    return { labels: at, value: count, metricName: `${metricName}_bucket` };
  });
  count += buckets[bounds.length] ?? 0;
  const beyond = { ...labels, le: "+Inf" };
  return [
    ...values,
    { labels: beyond, value: count, metricName: `${metricName}_bucket` },
    { labels: { ...labels }, value, metricName: `${metricName}_sum` },
    { labels: { ...labels }, value: count, metricName: `${metricName}_count` },
  ];
}
