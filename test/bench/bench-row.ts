/** One line of a benchmark's table. */
export interface BenchRow {
  readonly name: string;
  readonly unit: string;
  readonly p50: number;
  readonly p99?: number;
  readonly note?: string;
}

/** Of samples that are sorted. */
export function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
}
