/** Workers that wait for a call of their tools, in the order in which they came. */
import type { OpenExecutions } from "./open-executions.ts";

export interface WorkerWait {
  /** False: the time was over first, or nobody waits any more. @throws what the action throws */
  until(action: Promise<unknown>): Promise<boolean>;
  /** Resolves when there may be a call; false: the time is over, or nobody waits any more. */
  change(): Promise<boolean>;
  end(): void;
}

type Waiter = {
  readonly tools: readonly string[];
  wake: (() => void) | null;
  /** Woken while it did not wait. */
  isWoken: boolean;
};

export class WaitingWorkers {
  readonly #waiters = new Set<Waiter>();

  begin(tools: readonly string[], waitMs: number, signals: readonly AbortSignal[]): WorkerWait {
    const waiter: Waiter = { tools, wake: null, isWoken: false };
    let isOver = waitMs === 0 || signals.some(({ aborted }) => aborted);
    const over = new Set<() => void>();
    const stop = (): void => {
      isOver = true;
      for (const resolve of over) resolve();
    };
    const timer = setTimeout(stop, waitMs);
    for (const signal of signals) signal.addEventListener("abort", stop);
    this.#waiters.add(waiter);
    const untilOver = <T>(action: Promise<T>): Promise<T | false> =>
      new Promise((resolve, reject) => {
        const end = (): void => resolve(false);
        over.add(end);
        action.then(resolve, reject).finally(() => over.delete(end));
      });
    return {
      // A worker that does not wait gets what there is, also at the first request.
      until: async (action) => {
        if (waitMs === 0) return action.then(() => true);
        return isOver ? false : await untilOver(action.then(() => true));
      },
      change: async () => {
        if (isOver) return false;
        if (waiter.isWoken) {
          waiter.isWoken = false;
          return true;
        }
        const woken = new Promise<true>((resolve) => {
          waiter.wake = () => resolve(true);
        });
        return await untilOver(woken);
      },
      end: () => {
        clearTimeout(timer);
        for (const signal of signals) signal.removeEventListener("abort", stop);
        this.#waiters.delete(waiter);
      },
    };
  }

  /** Wakes all for whose tools there is a call that nobody holds. */
  wake(open: OpenExecutions): void {
    if (this.#waiters.size === 0) return;
    const free = new Set(open.freeTools);
    if (free.size === 0) return;
    for (const waiter of this.#waiters) {
      if (!waiter.tools.some((tool) => free.has(tool))) continue;
      if (waiter.wake === null) waiter.isWoken = true;
      waiter.wake?.();
      waiter.wake = null;
    }
  }
}
