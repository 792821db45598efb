import type { RecordedCall } from "./recording.ts";
import { issuedTogether } from "./steps.ts";

const STEP_MS = 1_000;

/**
 * Gate time of each call in ms, never falling: its recorded time if every call has one, else one
 * second for each new step (a call without a step is its own step).
 */
export function gateTimes(calls: readonly RecordedCall[]): readonly number[] {
  const recorded = calls.every(({ atMs }) => atMs !== null);
  let nowMs = 0;
  return calls.map((call, index) => {
    if (recorded) nowMs = index === 0 ? (call.atMs ?? 0) : Math.max(nowMs, call.atMs ?? 0);
    else if (!issuedTogether(calls[index - 1], call)) nowMs += STEP_MS;
    return nowMs;
  });
}
