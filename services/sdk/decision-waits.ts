/** Who waits for a held call to be decided. */
import type { DecisionEvent } from "../core/events.ts";
import type { CommittedRecord } from "../runtime/journal.ts";
import { CallgateError } from "./callgate-error.ts";
import type { WaitOptions } from "./gate-types.ts";
import { KeepAlive } from "./keep-alive.ts";

export interface DecisionWait {
  /** @throws CallgateError `timeout`, `closed`; the signal's reason. */
  decided(options: WaitOptions): Promise<DecisionEvent>;
  /** To be called once, whatever came of it. */
  end(): void;
}

type Waiter = {
  readonly decide: (event: DecisionEvent) => void;
  readonly fail: (error: unknown) => void;
};

export class DecisionWaits {
  readonly #waiters = new Map<string, Set<Waiter>>();
  readonly #alive = new KeepAlive(() => undefined);

  begin(decisionId: string): DecisionWait {
    let waiter: Waiter | undefined;
    const decided = new Promise<DecisionEvent>((resolve, reject) => {
      waiter = { decide: resolve, fail: reject };
    });
    // It may fail before, or without, anybody having asked for it.
    decided.catch(() => undefined);
    if (waiter !== undefined) this.#add(decisionId, waiter);
    return {
      decided: (options) => this.#within(decisionId, decided, options),
      end: () => {
        if (waiter !== undefined) this.#remove(decisionId, waiter);
      },
    };
  }

  committed(records: readonly CommittedRecord[]): void {
    if (this.#waiters.size === 0) return;
    for (const { record } of records) {
      for (const event of record.events) {
        if (event.type !== "allowed" && event.type !== "refused") continue;
        for (const waiter of this.#waiters.get(event.decisionId) ?? []) waiter.decide(event);
      }
    }
  }

  end(error: CallgateError): void {
    for (const waiters of this.#waiters.values()) {
      for (const waiter of waiters) waiter.fail(error);
    }
  }

  #add(decisionId: string, waiter: Waiter): void {
    const waiters = this.#waiters.get(decisionId) ?? new Set();
    waiters.add(waiter);
    this.#waiters.set(decisionId, waiters);
    this.#alive.begin();
  }

  #remove(decisionId: string, waiter: Waiter): void {
    const waiters = this.#waiters.get(decisionId);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#waiters.delete(decisionId);
    this.#alive.end();
  }

  async #within(
    decisionId: string,
    decided: Promise<DecisionEvent>,
    { timeoutMs, signal }: WaitOptions,
  ): Promise<DecisionEvent> {
    let stop: (() => void) | undefined;
    const givenUp = new Promise<never>((_resolve, reject) => {
      const abort = (): void => reject(signal?.reason);
      if (signal?.aborted === true) abort();
      signal?.addEventListener("abort", abort, { once: true });
      const late = (): void => reject(timeoutError(decisionId, timeoutMs ?? 0));
      const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs);
      stop = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
      };
    });
    try {
      return await Promise.race([decided, givenUp]);
    } finally {
      stop?.();
    }
  }
}

function timeoutError(decisionId: string, timeoutMs: number): CallgateError {
  return new CallgateError(
    "timeout",
    `\`${decisionId}\` was not decided within ${timeoutMs} ms: it is still held, ask again`,
  );
}
