/** How long one question may take, whatever its time is spent on. */
import { CallgateError } from "./callgate-error.ts";
import type { WaitOptions } from "./gate-types.ts";
import { waitWithin } from "./wait-within.ts";

/** The time runs from when it is made. */
export class TimeLimit {
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
    return waitWithin(action, {
      leftMs: this.leftMs,
      signal: this.#signal,
      late: () => new CallgateError("timeout", late(`${this.#timeoutMs} ms`)),
    });
  }

  /**
   * What a search of the journal gives. One that takes too long is left to itself: it is to look whether it
   * is over, and end.
   *
   * @throws CallgateError `timeout`; the signal's reason; what the search throws.
   */
  async searched<R>(search: (isOver: () => boolean) => Promise<R>): Promise<R> {
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
