/** One run that several callers wait for, each for as long as its own signal lets it. */
export class SharedRun {
  readonly #run: (signal: AbortSignal) => Promise<unknown>;
  readonly #abort = new AbortController();
  #answer: Promise<unknown> | undefined;
  #callers = 0;

  /** @param run begun with the first caller; its signal aborts when the last one gives up, for its reason. */
  constructor(run: (signal: AbortSignal) => Promise<unknown>) {
    this.#run = run;
  }

  /** Nobody waits for it any more: whoever comes now is answered by what comes after it. */
  get isGivenUp(): boolean {
    return this.#abort.signal.aborted;
  }

  /** Aborts the run, whoever waits for it: its one reader has given up. */
  abandon(reason: unknown): void {
    this.#abort.abort(reason);
  }

  /** Resolves once it has an answer, whatever that is. */
  async ended(): Promise<void> {
    await Promise.allSettled([this.#answer]);
  }

  /**
   * @throws what the run throws; the reason of the caller's own signal where others still wait. The last one who
   * gives up gets what the run makes of that: once it is journaled.
   */
  async join(signal: AbortSignal | undefined): Promise<unknown> {
    this.#callers += 1;
    let leave: () => void = () => undefined;
    const left = new Promise<never>((_resolve, reject) => {
      leave = () => {
        this.#callers -= 1;
        if (this.#callers > 0) reject(signal?.reason);
        else this.#abort.abort(signal?.reason);
      };
    });
    // Before it begins: what was given up before does not run.
    if (signal?.aborted === true) leave();
    else signal?.addEventListener("abort", leave, { once: true });
    try {
      this.#answer ??= this.#run(this.#abort.signal);
      return await Promise.race([this.#answer, left]);
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }
}
