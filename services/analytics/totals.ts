/**
 * Counters and histograms as plain data, so that they can be stored in a file and continue after a
 * restart: exported values never fall and count nothing twice.
 */
export type Labels = Readonly<Record<string, string>>;

export type FamilyType = "counter" | "histogram";

type Family = {
  readonly type: FamilyType;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Upper bounds, ascending; histograms only. */
  readonly bounds?: readonly number[];
};

const COUNT_BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

/** Names are without the prefix `callgate_`. */
export const FAMILIES = {
  analytics_decisions_total: {
    type: "counter",
    help: "terminal decisions and holds",
    labelNames: ["outcome", "reason", "tool", "tier"],
  },
  repeats_stopped_total: {
    type: "counter",
    help: "calls refused because they repeat an earlier one",
    labelNames: ["reason", "tool"],
  },
  redeliveries_total: {
    type: "counter",
    help: "proposals that were delivered again and got their first decision",
    labelNames: [],
  },
  call_results_total: {
    type: "counter",
    help: "results as the gate judged them, and outcomes that nobody reported in time",
    labelNames: ["status", "tool"],
  },
  spend_total: {
    type: "counter",
    help: "cost that results reported, in units of the currency; a later cost of a call replaces the earlier",
    labelNames: ["currency", "tool"],
  },
  grant_calls_total: {
    type: "counter",
    help: "calls that used up one of a grant",
    labelNames: ["tier"],
  },
  grants_exhausted_total: {
    type: "counter",
    help: "calls that a grant did not cover (used up, over or revoked), refused or held for a person",
    labelNames: ["tier"],
  },
  analytics_dead_letters_total: {
    type: "counter",
    help: "inputs that became dead letters",
    labelNames: ["code"],
  },
  alerts_total: { type: "counter", help: "alerts raised", labelNames: ["kind", "severity"] },
  analytics_skipped_total: {
    type: "counter",
    help: "journal records that retention deleted before they were read",
    labelNames: [],
  },
  conversation_tool_calls: {
    type: "histogram",
    help: "allowed calls of a conversation that has ended",
    labelNames: [],
    bounds: COUNT_BOUNDS,
  },
  conversation_steps: {
    type: "histogram",
    help: "steps of a conversation that has ended",
    labelNames: [],
    bounds: COUNT_BOUNDS,
  },
  conversation_duration_seconds: {
    type: "histogram",
    help: "time from the first to the last call of a conversation that has ended",
    labelNames: [],
    bounds: [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400],
  },
  decision_latency_seconds: {
    type: "histogram",
    help: "time from the append of a proposal to the append of its decision",
    labelNames: ["outcome"],
    bounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
  },
} as const satisfies Readonly<Record<string, Family>>;

export type FamilyName = keyof typeof FAMILIES;

export type CounterName = {
  [name in FamilyName]: (typeof FAMILIES)[name]["type"] extends "counter" ? name : never;
}[FamilyName];

export type HistogramName = Exclude<FamilyName, CounterName>;

export type Sample = {
  readonly labels: Labels;
  /** The value of a counter, or the sum of a histogram. */
  readonly value: number;
  /** Observations by bound, the last beyond all; histograms only. Not cumulative. */
  readonly buckets?: readonly number[];
};

export type TotalsData = { readonly [name in FamilyName]?: readonly Sample[] };

type Series = { readonly labels: Labels; value: number; readonly buckets: number[] };

export class Totals {
  readonly #series = new Map<FamilyName, Map<string, Series>>();

  constructor(data: TotalsData = {}) {
    for (const [name, samples] of Object.entries(data) as [FamilyName, readonly Sample[]][]) {
      if (!(name in FAMILIES)) continue;
      for (const { labels, value, buckets } of samples) {
        const series = this.#of(name, labels);
        series.value = value;
        series.buckets.splice(0, series.buckets.length, ...(buckets ?? []));
      }
    }
  }

  add(name: CounterName, labels: Labels, amount = 1): void {
    this.#of(name, labels).value += amount;
  }

  /** Whether the series was counted before. */
  has(name: FamilyName, labels: Labels): boolean {
    return this.#series.get(name)?.has(JSON.stringify(labels)) ?? false;
  }

  observe(name: HistogramName, labels: Labels, value: number): void {
    const series = this.#of(name, labels);
    const { bounds } = FAMILIES[name];
    const at = bounds.findIndex((bound) => value <= bound);
    const bucket = at === -1 ? bounds.length : at;
    series.value += value;
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
  }

  data(): TotalsData {
    const families = [...this.#series].map(
      ([name, series]) =>
        [
          name,
          [...series.values()].map(({ labels, value, buckets }) =>
            buckets.length === 0 ? { labels, value } : { labels, value, buckets: [...buckets] },
          ),
        ] as const,
    );
    return Object.fromEntries(families) as TotalsData;
  }

  #of(name: FamilyName, labels: Labels): Series {
    let family = this.#series.get(name);
    if (family === undefined) {
      family = new Map();
      this.#series.set(name, family);
    }
    const key = JSON.stringify(labels);
    let series = family.get(key);
    if (series === undefined) {
      const bounds = boundsOf(name);
      const buckets = bounds === null ? [] : new Array<number>(bounds.length + 1).fill(0);
      series = { labels, value: 0, buckets };
      family.set(key, series);
    }
    return series;
  }
}

/** Null: a counter. */
export function boundsOf(name: FamilyName): readonly number[] | null {
  const family: Family = FAMILIES[name];
  return family.bounds ?? null;
}
