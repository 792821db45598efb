/** The most that a timer of the system takes: with more it fires at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Fires after the time, however long that is: the process lives until then, with `Infinity` until it is stopped. Gives what stops it. */
export function startTimer(timeMs: number, fire: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const start = (leftMs: number): void => {
    const restMs = leftMs - TIMER_MS_MAX;
    const next = restMs > 0 ? (): void => start(restMs) : fire;
    timer = setTimeout(next, Math.min(leftMs, TIMER_MS_MAX));
  };
  start(timeMs);
  return () => clearTimeout(timer);
}
