/**
 * What is usual for the conversations of one agent, by the last ones that came to rest, and from where on a
 * value is a spike. Median and median absolute deviation: a few runaway conversations do not move them.
 */
export const SPIKE_METRICS = ["calls", "spend", "duration"] as const;

/** Allowed calls; units of a currency; ms between the first and the last call. */
export type SpikeMetric = (typeof SPIKE_METRICS)[number];

export type SpikeOptions = {
  /** Conversations that a baseline is made of, at most. */
  readonly conversationsMax: number;
  /** Below so many there is no baseline and no alert. */
  readonly conversationsMin: number;
  /** How many (scaled) deviations above the median. */
  readonly deviations: number;
  /** Below it nothing is a spike. */
  readonly floor: Readonly<Record<SpikeMetric, number>>;
};

export const SPIKE_OPTIONS: SpikeOptions = {
  conversationsMax: 200,
  conversationsMin: 30,
  deviations: 6,
  floor: { calls: 20, spend: 1, duration: 600_000 },
};

/** Of a normal distribution, the standard deviation is 1.4826 median absolute deviations. */
const MAD_SCALE = 1.4826;
/** Where nearly all are alike the deviation is 0: a tenth of the median counts as one at least. */
const SPREAD_MIN = 0.1;

/** Oldest first. */
export type Baseline = readonly number[];

export function extended(baseline: Baseline, value: number, options: SpikeOptions): Baseline {
  const next = [...baseline, value];
  return next.length > options.conversationsMax ? next.slice(-options.conversationsMax) : next;
}

/** From where on a value is a spike; null where too little is known. */
export function spikeThreshold(
  baseline: Baseline,
  metric: SpikeMetric,
  options: SpikeOptions,
): number | null {
  if (baseline.length < options.conversationsMin) return null;
  const middle = median(baseline);
  const deviation = median(baseline.map((value) => Math.abs(value - middle)));
  const spread = Math.max(MAD_SCALE * deviation, SPREAD_MIN * middle);
  return Math.max(options.floor[metric], middle + options.deviations * spread);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  const upper = sorted[half] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? 0)) / 2;
}
