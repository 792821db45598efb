/** Who waits for something to be journaled of a decision. */
import type { CommittedRecord } from "../runtime/journal.ts";
import { CallgateError } from "./callgate-error.ts";
import type { WaitOptions } from "./gate-types.ts";
import { KeepAlive } from "./keep-alive.ts";

export interface JournalWait<T> {
  /** @throws CallgateError `timeout`, `closed`; the signal's reason. */
  ended(options: WaitOptions): Promise<T>;
  /** To be called once, whatever came of it. */
  end(): void;
}

type Waiter<T> = {
  readonly resolve: (found: T) => void;
  readonly fail: (error: unknown) => void;
};

/** What a record says of decisions, each with what whoever waits for it gets. */
export type Findings<T> = (
  record: CommittedRecord,
) => Iterable<readonly [decisionId: string, found: T]>;

export class JournalWaits<T> {
  readonly #find: Findings<T>;
  /** Of a wait whose time is over: `` `d1` was not decided `` */
  readonly #notYet: (decisionId: string) => string;
  readonly #waiters = new Map<string, Set<Waiter<T>>>();
  readonly #alive = new KeepAlive(() => undefined);

  constructor(find: Findings<T>, notYet: (decisionId: string) => string) {
    this.#find = find;
    this.#notYet = notYet;
  }

  begin(decisionId: string): JournalWait<T> {
    let waiter: Waiter<T> | undefined;
    const found = new Promise<T>((resolve, reject) => {
      waiter = { resolve, fail: reject };
    });
    // It may fail before, or without, anybody having asked for it.
    found.catch(() => undefined);
    if (waiter !== undefined) this.#add(decisionId, waiter);
    return {
      ended: (options) => this.#within(decisionId, found, options),
      end: () => {
        if (waiter !== undefined) this.#remove(decisionId, waiter);
      },
    };
  }

  committed(records: readonly CommittedRecord[]): void {
    if (this.#waiters.size === 0) return;
    for (const record of records) {
      for (const [decisionId, found] of this.#find(record)) {
        for (const waiter of this.#waiters.get(decisionId) ?? []) waiter.resolve(found);
      }
    }
  }

  end(error: CallgateError): void {
    for (const waiters of this.#waiters.values()) {
      for (const waiter of waiters) waiter.fail(error);
    }
  }

  #add(decisionId: string, waiter: Waiter<T>): void {
    const waiters = this.#waiters.get(decisionId) ?? new Set();
    waiters.add(waiter);
    this.#waiters.set(decisionId, waiters);
    this.#alive.begin();
  }

  #remove(decisionId: string, waiter: Waiter<T>): void {
    const waiters = this.#waiters.get(decisionId);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#waiters.delete(decisionId);
    this.#alive.end();
  }

  async #within(
    decisionId: string,
    found: Promise<T>,
    { timeoutMs, signal }: WaitOptions,
  ): Promise<T> {
    let stop: (() => void) | undefined;
    const givenUp = new Promise<never>((_resolve, reject) => {
      const abort = (): void => reject(signal?.reason);
      if (signal?.aborted === true) abort();
      signal?.addEventListener("abort", abort, { once: true });
      const late = (): void => reject(this.#timeout(decisionId, timeoutMs ?? 0));
      const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs);
      stop = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
      };
    });
    try {
      return await Promise.race([found, givenUp]);
    } finally {
      stop?.();
    }
  }

  #timeout(decisionId: string, timeoutMs: number): CallgateError {
    const what = this.#notYet(decisionId);
    return new CallgateError("timeout", `${what} within ${timeoutMs} ms: ask again`);
  }
}
