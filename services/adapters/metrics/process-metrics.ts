/** The metrics of a process, for Prometheus. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { MetricName, Metrics, TimingName } from "../../runtime/ports.ts";

const PREFIX = "callgate_";
const MS_PER_SECOND = 1_000;

const COUNTS: { readonly [name in MetricName]: string } = {
  inputs: "inputs that have a journal record",
  decisions: "decisions made",
  commits: "transactions that were committed",
  commit_failures: "transactions of which nothing became visible",
  commits_unknown: "transactions whose outcome was not known at first",
  take_overs: "times that a partition was taken over",
  dead_letters: "inputs that went to the dead letters",
  forwarded_inputs: "inputs that came on another partition than that of their conversation",
  ticks: "ticks sent to the verdicts",
  idle_records: "journal records without an input",
  checkpoints: "checkpoints written",
  checkpoints_ignored: "checkpoints that could not be used",
  state_saves: "saves to the state store",
  state_stores_ignored: "partitions of the state store that could not be used",
  internal_errors: "inputs whose processing threw",
  overloaded_proposals: "proposals of new conversations that were refused at a bound",
  late_drops: "batches dropped because their partition had gone",
};

/** Upper bounds in seconds: from a commit on a near broker to a restore of a large journal. */
const TIMINGS: { readonly [name in TimingName]: readonly [help: string, bounds: number[]] } = {
  commit: [
    "time of a transaction",
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  ],
  restore: ["time to restore a partition", [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300]],
  checkpoint: ["time to write a checkpoint", [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60]],
  state_save: ["time of a save to the state store", [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60]],
};

export type Labels = Readonly<Record<string, string>>;

/** `name` has no prefix `callgate_`. Labels have few values: never use the id of a conversation. */
export interface ProcessMetrics extends Metrics {
  /** Counts a metric of some processes only; the first call with a name sets its help text. */
  add(name: string, help: string, labels: Labels, amount?: number): void;
  /** Registers a gauge that is read at each scrape, with one value for each set of labels. */
  watch(
    name: string,
    help: string,
    labelNames: readonly string[],
    read: () => readonly { readonly labels: Labels; readonly value: number }[],
  ): void;
  /** Adds the metrics of another registry to the output. */
  include(other: Registry): void;
  readonly contentType: string;
  /** All metrics in Prometheus' text format. */
  text(): Promise<string>;
}

/** @param service a label of every metric. */
export function createProcessMetrics(service: string): ProcessMetrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  const registers = [registry];
  const included = [registry];
  collectDefaultMetrics({ register: registry });
  const counts = mapValues(
    COUNTS,
    (help, name) => new Counter({ name: `${PREFIX}${name}_total`, help, registers }),
  );
  const timings = mapValues(
    TIMINGS,
    ([help, buckets], name) =>
      new Histogram({ name: `${PREFIX}${name}_seconds`, help, buckets, registers }),
  );
  const added = new Map<string, Counter<string>>();
  return {
    count: (name, amount = 1) => counts[name].inc(amount),
    observe: (name, milliseconds) => timings[name].observe(milliseconds / MS_PER_SECOND),
    add: (name, help, labels, amount = 1) => {
      const existing = added.get(name);
      const options = { name: `${PREFIX}${name}_total`, help, labelNames: Object.keys(labels) };
      const counter = existing ?? new Counter({ ...options, registers });
      added.set(name, counter);
      counter.inc({ ...labels }, amount);
    },
    watch: (name, help, labelNames, read) => {
      new Gauge({
        ...{ name: PREFIX + name, help, labelNames: [...labelNames], registers },
        collect() {
          this.reset();
          for (const { labels, value } of read()) this.set({ ...labels }, value);
        },
      });
    },
    include: (other) => {
      other.setDefaultLabels({ service });
      included.push(other);
    },
    contentType: registry.contentType,
    text: async () => (await Promise.all(included.map((one) => one.metrics()))).join("\n"),
  };
}

function mapValues<K extends string, A, B>(
  values: { readonly [key in K]: A },
  map: (value: A, key: K) => B,
): { readonly [key in K]: B } {
  const keys = Object.keys(values) as K[];
  return Object.fromEntries(keys.map((key) => [key, map(values[key], key)])) as {
    readonly [key in K]: B;
  };
}
