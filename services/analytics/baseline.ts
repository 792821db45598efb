/**
 * Computes what is usual for the conversations of one agent from its latest idle ones, and the
 * threshold of a spike. It uses median and median absolute deviation, so that a few runaway
 * conversations hardly change them.
 */
export const SPIKE_METRICS = ["calls", "spend", "duration"] as const;

/** Allowed calls; units of a currency; ms between the first and the last call. */
export type SpikeMetric = (typeof SPIKE_METRICS)[number];

export type SpikeOptions = {
  /** Largest number of conversations in a baseline. */
  readonly conversationsMax: number;
  /** With fewer conversations there is no baseline and no alert. */
  readonly conversationsMin: number;
  /** How many (scaled) deviations above the median a spike begins. */
  readonly deviations: number;
  /** A value below this is never a spike. */
  readonly floor: Readonly<Record<SpikeMetric, number>>;
};

export const SPIKE_OPTIONS: SpikeOptions = {
  conversationsMax: 200,
  conversationsMin: 30,
  deviations: 6,
  floor: { calls: 20, spend: 1, duration: 600_000 },
};

/** The standard deviation of a normal distribution is 1.4826 median absolute deviations. */
const MAD_SCALE = 1.4826;
/**
 * Where nearly all values are equal the deviation is 0, so it counts as at least a tenth of the
 * median.
 */
const SPREAD_MIN = 0.1;

/** Values of conversations, oldest first. */
export type Baseline = readonly number[];

export function extendBaseline(baseline: Baseline, value: number, options: SpikeOptions): Baseline {
  const next = [...baseline, value];
  return next.length > options.conversationsMax ? next.slice(-options.conversationsMax) : next;
}

/** The value above which there is a spike; null where there are too few conversations. */
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
