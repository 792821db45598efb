/** An exact limit of N calls in a sliding window. */
import type { Times } from "../../collections/times.ts";
import type { Rate } from "../policy/document.ts";

/** Null: there is room. Otherwise the ms until there is. `times`: the times of earlier calls. */
export function overRate(times: Times | undefined, rate: Rate, nowMs: number): number | null {
  if (times === undefined || times.to - times.from < rate.count) return null;
  const oldest = times.line[times.to - rate.count] as number;
  const endsMs = oldest + rate.windowMs;
  return endsMs > nowMs ? endsMs - nowMs : null;
}
