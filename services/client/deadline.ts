import { CallgateError } from "./api/callgate-error.ts";
import type { WaitOptions } from "./api/gate-types.ts";

/** How long one question may take, whatever its time is spent on. The time runs from when it is made. */
export class Deadline {
  readonly #id: string;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #untilMs: number;

  /** @param id of the decision or the approval that is asked about, for the error. */
  constructor(id: string, { timeoutMs = Number.POSITIVE_INFINITY, signal }: WaitOptions) {
    this.#id = id;
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
    this.#untilMs = performance.now() + timeoutMs;
  }

  /** 0: the time is over; `Infinity`: there is no limit. */
  get leftMs(): number {
    return Math.max(0, this.#untilMs - performance.now());
  }

  /** @throws CallgateError `timeout` with what `late` says of the time it took; the signal's reason. */
  within<R>(action: Promise<R>, late: (time: string) => string): Promise<R> {
    return withDeadline(action, {
      leftMs: this.leftMs,
      signal: this.#signal,
      late: () => new CallgateError("timeout", late(`${this.#timeoutMs} ms`)),
    });
  }

  /**
   * Searches the journal. A search that takes too long is left to itself: it asks `isOver`, and ends.
   *
   * @throws CallgateError `timeout`; the signal's reason; what the search throws.
   */
  async search<R>(search: (isOver: () => boolean) => Promise<R>): Promise<R> {
    let isOver = false;
    try {
      return await this.within(
        search(() => isOver),
        (time) => `the journal was not searched for \`${this.#id}\` within ${time}: give it more`,
      );
    } finally {
      isOver = true;
    }
  }
}

export type DeadlineOptions = {
  /** Absent, or `Infinity`: there is no limit. */
  readonly leftMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** Makes the error where the time is over. */
  readonly late?: () => Error;
};

/**
 * Waits for an action, which is left to itself once the time is over or the signal aborts.
 *
 * @throws what the action throws; `late`, or the reason of the signal, where they are first.
 */
export async function withDeadline<T>(action: Promise<T>, options: DeadlineOptions): Promise<T> {
  const { leftMs = Number.POSITIVE_INFINITY, signal, late } = options;
  let stop: (() => void) | undefined;
  const interruption = new Promise<never>((_resolve, reject) => {
    const abort = (): void => reject(signal?.reason);
    if (signal?.aborted === true) abort();
    signal?.addEventListener("abort", abort, { once: true });
    // Without a limit there is nothing that must keep the process alive.
    const isLimited = leftMs !== Number.POSITIVE_INFINITY;
    const stopTimer = isLimited ? startTimer(leftMs, () => reject(late?.())) : () => undefined;
    stop = () => {
      stopTimer();
      signal?.removeEventListener("abort", abort);
    };
  });
  try {
    return await Promise.race([action, interruption]);
  } finally {
    stop?.();
  }
}

/** The most that a timer of the system takes: with more it fires at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Fires after the time, however long that is: the process lives until then, with `Infinity` until it is stopped.
 *
 * @returns what stops it.
 */
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

export type LinkedSignal = {
  readonly signal: AbortSignal;
  /** Lets go of the sources: they may live much longer. */
  unlink(): void;
};

/**
 * A signal that aborts with the first of its sources, for the same reason. Not `AbortSignal.any`: on Node 20 a source
 * that lives long keeps every signal that was made of it (1.2 kB each), and there is no way to let go.
 */
export function linkSignals(sources: readonly AbortSignal[]): LinkedSignal {
  const controller = new AbortController();
  const links = sources.map((source) => {
    const abort = (): void => controller.abort(source.reason);
    if (source.aborted) abort();
    else source.addEventListener("abort", abort, { once: true });
    return () => source.removeEventListener("abort", abort);
  });
  return {
    signal: controller.signal,
    unlink: () => {
      for (const unlink of links) unlink();
    },
  };
}
