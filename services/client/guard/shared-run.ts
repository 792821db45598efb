/**
 * Runs that several callers of guarded tools wait for: each decision runs once at a time in this
 * process.
 */
import type { StreamReader } from "../calls/run-call.ts";

/** Runs a call to its end. The reader receives a handler's generator before that. */
export type RunToEnd = (signal: AbortSignal, reader: StreamReader) => Promise<unknown>;

export type RunRequest = {
  readonly decisionId: string;
  /** Aborts when this caller gives up. */
  readonly signal: AbortSignal | undefined;
  readonly run: RunToEnd;
  /** The answer to further callers while the first one reads the call's generator. */
  readonly whileStreamed: () => unknown;
};

export class SharedRuns {
  /** Runs by decision, until they end. */
  readonly #running = new Map<string, SharedRun>();
  /** Runs whose answer is a generator that its caller reads. */
  readonly #streaming = new Map<string, Promise<unknown>>();

  has(decisionId: string): boolean {
    return this.#running.has(decisionId);
  }

  /** Begins the run, or waits for the one under way. @throws as `SharedRun.join` */
  async join(request: RunRequest): Promise<unknown> {
    const { decisionId, signal, whileStreamed } = request;
    for (;;) {
      const current = this.#running.get(decisionId);
      if (current === undefined) return await this.#begin(request);
      if (this.#streaming.has(decisionId)) return whileStreamed();
      if (!current.isAbandoned) return await current.join(signal);
      // That run was given up, and it ends for reasons of the callers that left it.
      await current.ended();
    }
  }

  #begin(request: RunRequest): Promise<unknown> {
    const { decisionId, signal } = request;
    const run: SharedRun = new SharedRun((shared) =>
      this.#start(request, shared, (reason) => run.abandon(reason)),
    );
    this.#running.set(decisionId, run);
    const answer = run.join(signal);
    void run.ended().then(() => this.#forget(decisionId));
    return answer;
  }

  async #forget(decisionId: string): Promise<void> {
    await this.#streaming.get(decisionId);
    this.#streaming.delete(decisionId);
    this.#running.delete(decisionId);
  }

  /** Answers with a generator as soon as the handler returns one, else when the call has ended. */
  #start(
    { decisionId, signal: own, run }: RunRequest,
    shared: AbortSignal,
    abandon: (reason: unknown) => void,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const take: StreamReader["take"] = (stream) => {
        this.#streaming.set(decisionId, Promise.allSettled([ended]));
        own?.addEventListener("abort", () => abandon(own.reason), { once: true });
        resolve(stream);
      };
      const ended = run(shared, { take, recorded: () => ended });
      ended.then(resolve, reject);
    });
  }
}

/** One run that several callers wait for, each for as long as its own signal allows. */
class SharedRun {
  readonly #run: (signal: AbortSignal) => Promise<unknown>;
  readonly #abort = new AbortController();
  #answer: Promise<unknown> | undefined;
  #callers = 0;

  /**
   * @param run begins with the first caller; its signal aborts when the last caller gives up, for
   *   that caller's reason.
   */
  constructor(run: (signal: AbortSignal) => Promise<unknown>) {
    this.#run = run;
  }

  /** Nobody waits for the run any more; a later caller is answered from its outcome. */
  get isAbandoned(): boolean {
    return this.#abort.signal.aborted;
  }

  /** Aborts the run regardless of waiting callers: its one reader has given up. */
  abandon(reason: unknown): void {
    this.#abort.abort(reason);
  }

  /** Resolves once the run has an answer, whatever it is. */
  async ended(): Promise<void> {
    await Promise.allSettled([this.#answer]);
  }

  /**
   * @throws what the run throws; the reason of the caller's own signal while others still wait. The
   *   last caller to give up gets the outcome of the abort, once it is journaled.
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
    // Before the run begins: a call that was already given up must not run.
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
