/** What ends a wait before it has what it is for. */
export type WaitLimits = {
  /** `Infinity`: there is no limit. */
  readonly leftMs: number;
  readonly signal: AbortSignal | undefined;
  /** The error where the time is over. */
  readonly late: () => Error;
};

/** The most that a timer takes: with more it fires at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** @throws what the action throws; `late`, or the reason of the signal, where they are first. */
export async function waitWithin<T>(action: Promise<T>, limits: WaitLimits): Promise<T> {
  const { leftMs, signal, late } = limits;
  let stop: (() => void) | undefined;
  const givenUp = new Promise<never>((_resolve, reject) => {
    const abort = (): void => reject(signal?.reason);
    if (signal?.aborted === true) abort();
    signal?.addEventListener("abort", abort, { once: true });
    const stopTimer = startTimer(leftMs, () => reject(late()));
    stop = () => {
      stopTimer();
      signal?.removeEventListener("abort", abort);
    };
  });
  try {
    return await Promise.race([action, givenUp]);
  } finally {
    stop?.();
  }
}

/** However long it is. Gives what stops it. */
function startTimer(timeMs: number, fire: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const start = (leftMs: number): void => {
    const restMs = leftMs - TIMER_MS_MAX;
    const next = restMs > 0 ? (): void => start(restMs) : fire;
    timer = setTimeout(next, Math.min(leftMs, TIMER_MS_MAX));
  };
  if (timeMs !== Number.POSITIVE_INFINITY) start(timeMs);
  return () => clearTimeout(timer);
}
