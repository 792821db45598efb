/** A time span in words, for sentences that a model or a person reads. */

const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];
/** From this many of a unit on, the unit is used: 90 seconds, but 2 minutes. */
const LEAST_COUNT = 2;

/** Never less than the time itself: `5 seconds`, `2 minutes`, `3 days`. */
export function describeDuration(ms: number): string {
  const [name, unitMs] = UNITS.find(([, size]) => ms >= LEAST_COUNT * size) ?? ["second", 1_000];
  const count = Math.max(1, Math.ceil(ms / unitMs));
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}
