import { CallgateError } from "./api/callgate-error.ts";
import type { WaitOptions } from "./api/gate-types.ts";

/** The time limit of one request, shared by all its steps. The time runs from construction. */
export class Deadline {
  readonly #id: string;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #untilMs: number;

  /** @param id of the decision or approval in question, for the error message. */
  constructor(id: string, { timeoutMs = Number.POSITIVE_INFINITY, signal }: WaitOptions) {
    this.#id = id;
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
    this.#untilMs = performance.now() + timeoutMs;
  }

  /** 0: the time is over; `Infinity`: no limit. */
  get leftMs(): number {
    return Math.max(0, this.#untilMs - performance.now());
  }

  /**
   * @throws CallgateError `timeout`, with the message that `late` makes from the elapsed time; the
   *   signal's reason.
   */
  within<R>(action: Promise<R>, late: (time: string) => string): Promise<R> {
    return withDeadline(action, {
      leftMs: this.leftMs,
      signal: this.#signal,
      late: () => new CallgateError("timeout", late(`${this.#timeoutMs} ms`)),
    });
  }

  /**
   * Searches the journal. A search that takes too long is abandoned: it polls `isOver` and stops.
   *
   * @throws CallgateError `timeout`; the signal's reason; what the search throws.
   */
  async search<R>(search: (isOver: () => boolean) => Promise<R>): Promise<R> {
    let isOver = false;
    try {
      return await this.within(
        search(() => isOver),
        (time) =>
          `the journal was not searched for \`${this.#id}\` within ${time}: allow more time`,
      );
    } finally {
      isOver = true;
    }
  }
}

export type DeadlineOptions = {
  /** Absent, or `Infinity`: no limit. */
  readonly leftMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** Makes the error that is thrown when the time is over. */
  readonly late?: () => Error;
};

/**
 * Waits for an action; abandons it once the time is over or the signal aborts.
 *
 * @throws what the action throws; before that, `late`'s error or the reason of the signal.
 */
export async function withDeadline<T>(action: Promise<T>, options: DeadlineOptions): Promise<T> {
  const { leftMs = Number.POSITIVE_INFINITY, signal, late } = options;
  let stop: (() => void) | undefined;
  const interruption = new Promise<never>((_resolve, reject) => {
    const abort = (): void => reject(signal?.reason);
    if (signal?.aborted === true) abort();
    signal?.addEventListener("abort", abort, { once: true });
    // Without a limit, no timer must keep the process alive.
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

/** The longest delay of a Node timer; a longer one fires at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Fires after `timeMs`, which may exceed the longest timer. Keeps the process alive until then;
 * with `Infinity`, until it is stopped.
 *
 * @returns a function that stops the timer.
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
  /** Removes the listeners from the sources, which may live much longer. */
  unlink(): void;
};

/**
 * A signal that aborts with the first of its sources, for the same reason. We avoid
 * `AbortSignal.any`: on Node 20 a long-lived source retains every signal made from it (1.2 kB each)
 * and cannot release them.
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
