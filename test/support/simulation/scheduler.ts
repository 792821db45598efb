// Decides from a seed what happens next. Every call that the code under test makes to the outside
// is an operation that waits here. The scheduler releases one at a time in an order of its choice,
// and at each of them the process may die, just before or just after the call takes effect.
import type { Random } from "./random.ts";

export type Operation = {
  readonly owner: SimulatedProcess;
  readonly name: string;
  /** Time at which the operation ends by itself; absent: it can be released at once. */
  readonly dueMs?: number;
  /** Whether a waiting operation may be released before it is due. */
  readonly ready?: () => boolean;
  readonly run: () => void;
};

/** A process of the gate. Once it is dead, none of its calls is answered any more. */
export type SimulatedProcess = {
  readonly name: string;
  alive: boolean;
  /** Steps for which none of its calls is answered. */
  pausedSteps: number;
};

export class Scheduler {
  readonly random: Random;
  /** Wall clock of the simulated world, ms. */
  nowMs = 1_700_000_000_000;
  #pending: Operation[] = [];

  constructor(random: Random) {
    this.random = random;
  }

  submit(operation: Operation): void {
    this.#pending.push(operation);
  }

  /** Lets the code under test run until it waits for an operation. */
  async settle(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }

  kill(owner: SimulatedProcess): void {
    owner.alive = false;
    this.#pending = this.#pending.filter((operation) => operation.owner !== owner);
  }

  /** Releases one operation. False: none could be released, now or later. */
  step(): boolean {
    const ready = this.#pending.filter((operation) => this.#isReady(operation));
    if (ready.length === 0) return this.#advance();
    const chosen = this.random.pick(ready);
    this.#pending.splice(this.#pending.indexOf(chosen), 1);
    chosen.run();
    return true;
  }

  /** How many operations wait only for their turn. */
  get readyCount(): number {
    return this.#pending.filter((operation) => this.#isReady(operation)).length;
  }

  #isReady({ owner, dueMs, ready }: Operation): boolean {
    if (owner.pausedSteps > 0) return false;
    if (ready?.() === true) return true;
    return dueMs === undefined ? ready === undefined : dueMs <= this.nowMs;
  }

  /** Nothing is ready: time passes until something is. */
  #advance(): boolean {
    let next = Number.POSITIVE_INFINITY;
    for (const { owner, dueMs } of this.#pending) {
      if (owner.pausedSteps === 0 && dueMs !== undefined) next = Math.min(next, dueMs);
    }
    if (next === Number.POSITIVE_INFINITY) return false;
    this.nowMs = Math.max(this.nowMs, next);
    return true;
  }
}
