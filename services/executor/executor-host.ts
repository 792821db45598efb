/**
 * An executor among others: follows the allowed calls of each partition that its group gives it.
 * Of a number that goes to another nothing more is begun; calls that still run there go on to their end.
 * The new owner tells `unknown` of them, and their late results reconcile that.
 */

import { startTimer } from "../client/deadline.ts";
import type { Assignment, Membership } from "../runtime/membership.ts";
import { type ExecutorStatus, LogExecutor, type LogExecutorParts } from "./log-executor.ts";

export type ExecutorHostParts = Omit<LogExecutorParts, "partition"> & {
  readonly membership: Membership;
};

export type HostedStatus = ExecutorStatus & { readonly partition: number };

export type ExecutorHostStatus = {
  /** In the group, and every number that is ours is followed. */
  readonly ready: boolean;
  readonly joined: boolean;
  readonly partitions: readonly HostedStatus[];
};

const LOOK_EVERY_MS = 500;
const WAITING: ExecutorStatus = { state: "restoring", error: null };

export class ExecutorHost {
  readonly #parts: ExecutorHostParts;
  readonly #hosted = new Map<number, LogExecutor>();
  /** Of partitions that are not ours any more, until their last calls have ended. */
  readonly #leaving = new Set<LogExecutor>();
  readonly #abort = new AbortController();
  #looking: Promise<void> | undefined;

  constructor(parts: ExecutorHostParts) {
    this.#parts = parts;
  }

  /** Resolves, with the reason, when this process must end with an error. Never rejects. */
  get failed(): Promise<Error> {
    return this.#parts.membership.failed;
  }

  async start(): Promise<void> {
    await this.#parts.membership.join((assignment) => this.#reconcile(assignment));
    this.#looking = this.#look();
  }

  status(): ExecutorHostStatus {
    const { joined, assignment } = this.#parts.membership;
    const partitions = assignment.partitions.map((partition) => ({
      ...(this.#hosted.get(partition)?.status ?? WAITING),
      partition,
    }));
    const running = partitions.every(({ state }) => state === "running");
    return { ready: joined && running && !this.#abort.signal.aborted, joined, partitions };
  }

  /**
   * Begins nothing new, waits for what runs at most so long, then leaves the group.
   * @returns false where something had to be broken off: a call, writing what came of one, or a take-over.
   */
  async stop(timeoutMs: number): Promise<boolean> {
    this.#abort.abort();
    const all = [...this.#hosted.values(), ...this.#leaving];
    let isLate = false;
    // Set before those of the executors, so that it goes off before what they break off has ended.
    const stopTimer = startTimer(timeoutMs, () => {
      isLate = true;
    });
    await Promise.all(all.map((executor) => executor.close(timeoutMs)));
    stopTimer();
    await this.#looking;
    await this.#parts.membership.leave();
    return !isLate;
  }

  #reconcile({ partitions }: Assignment): void {
    if (this.#abort.signal.aborted) return;
    for (const partition of [...this.#hosted.keys()]) {
      if (!partitions.includes(partition)) this.#release(partition);
    }
    for (const partition of partitions) {
      if (!this.#hosted.has(partition)) this.#open(partition);
    }
  }

  #open(partition: number): void {
    const executor = new LogExecutor({ ...this.#parts, partition });
    this.#hosted.set(partition, executor);
    executor.start();
  }

  #release(partition: number): void {
    const executor = this.#hosted.get(partition);
    if (executor === undefined) return;
    this.#hosted.delete(partition);
    this.#leaving.add(executor);
    // Its calls have limits of their own.
    void executor.close(Number.POSITIVE_INFINITY).then(() => this.#leaving.delete(executor));
  }

  /** One that was fenced, or failed, is begun again for as long as its number is ours. */
  async #look(): Promise<void> {
    while (!this.#abort.signal.aborted) {
      await this.#parts.clock.sleep(LOOK_EVERY_MS, this.#abort.signal);
      for (const [partition, { status }] of [...this.#hosted]) {
        if (status.state === "not_owner" || status.state === "closed") this.#release(partition);
      }
      this.#reconcile(this.#parts.membership.assignment);
    }
  }
}
