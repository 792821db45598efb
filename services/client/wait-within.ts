import { startTimer } from "./long-timer.ts";

/** What ends a wait before it has what it is for. */
export type WaitLimits = {
  /** `Infinity`: there is no limit. */
  readonly leftMs: number;
  readonly signal: AbortSignal | undefined;
  /** The error where the time is over. */
  readonly late: () => Error;
};

/** @throws what the action throws; `late`, or the reason of the signal, where they are first. */
export async function waitWithin<T>(action: Promise<T>, limits: WaitLimits): Promise<T> {
  const { leftMs, signal, late } = limits;
  let stop: (() => void) | undefined;
  const givenUp = new Promise<never>((_resolve, reject) => {
    const abort = (): void => reject(signal?.reason);
    if (signal?.aborted === true) abort();
    signal?.addEventListener("abort", abort, { once: true });
    // Without a limit there is nothing that must keep the process alive.
    const isLimited = leftMs !== Number.POSITIVE_INFINITY;
    const stopTimer = isLimited ? startTimer(leftMs, () => reject(late())) : () => undefined;
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
