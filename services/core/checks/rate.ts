/** N calls in a sliding window, exactly. */
import type { Rate } from "../policy/document.ts";

/** Null: there is room. Else how long until there is, ms. `times`: of earlier calls, oldest first. */
export function overRate(
  times: readonly number[] | undefined,
  rate: Rate,
  nowMs: number,
): number | null {
  if (times === undefined || times.length < rate.count) return null;
  const oldest = times[times.length - rate.count] as number;
  const endsMs = oldest + rate.windowMs;
  return endsMs > nowMs ? endsMs - nowMs : null;
}
