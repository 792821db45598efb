/**
 * How long calls waited for people: no agent is to blame for that time, so the budgets of seconds
 * leave it out. Holds that overlap count once.
 */
export interface HeldTime {
  /** Time of the holds that are over, ms. */
  readonly totalMs: number;
  /** Since when at least one call is held; null: no call is. */
  readonly sinceMs: number | null;
}

export const NEVER_HELD: HeldTime = { totalMs: 0, sinceMs: null };

/** All time held until `atMs`, ms. */
export function heldUntil({ heldTime }: { readonly heldTime: HeldTime }, atMs: number): number {
  const { totalMs, sinceMs } = heldTime;
  return sinceMs === null ? totalMs : totalMs + Math.max(0, atMs - sinceMs);
}

export function holdBegan(held: HeldTime, atMs: number): HeldTime {
  return held.sinceMs === null ? { totalMs: held.totalMs, sinceMs: atMs } : held;
}

/** `left`: how many calls are still held. */
export function holdEnded(held: HeldTime, atMs: number, left: number): HeldTime {
  const { totalMs, sinceMs } = held;
  if (left > 0 || sinceMs === null) return held;
  return { totalMs: totalMs + Math.max(0, atMs - sinceMs), sinceMs: null };
}
