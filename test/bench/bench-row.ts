/** One line of a benchmark's table. */
export interface BenchRow {
  readonly name: string;
  readonly unit: string;
  /** The value of rows without single samples. */
  readonly p50: number;
  readonly p99?: number;
  readonly note?: string;
}

/** Percentiles of sorted samples. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
}

/** The upper one of two in the middle. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** The median of each figure of rows with one name, one row from each round. */
export function medianRow(rounds: readonly BenchRow[]): BenchRow {
  const [first] = rounds;
  if (first === undefined) throw new Error("no round was measured");
  const p99 = rounds.flatMap((row) => row.p99 ?? []);
  return {
    ...first,
    p50: median(rounds.map((row) => row.p50)),
    ...(p99.length === 0 ? {} : { p99: median(p99) }),
  };
}
