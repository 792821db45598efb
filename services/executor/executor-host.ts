/**
 * One executor of several: follows the allowed calls of each partition that its consumer group
 * assigns to it. When a partition goes to another executor, this one begins nothing more there;
 * calls that still run go on to their end. The new owner reports them as `unknown`, and their late
 * results reconcile that.
 */

import { startTimer } from "../client/deadline.ts";
import type { Assignment, Membership } from "../runtime/membership.ts";
import { type ExecutorStatus, LogExecutor, type LogExecutorParts } from "./log-executor.ts";

export type ExecutorHostParts = Omit<LogExecutorParts, "partition"> & {
  readonly membership: Membership;
};

export type HostedStatus = ExecutorStatus & { readonly partition: number };

export type ExecutorHostStatus = {
  /** In the group, and following every partition assigned to it. */
  readonly ready: boolean;
  readonly joined: boolean;
  readonly partitions: readonly HostedStatus[];
};

const LOOK_EVERY_MS = 500;
const WAITING: ExecutorStatus = { state: "restoring", error: null };

export class ExecutorHost {
  readonly #parts: ExecutorHostParts;
  readonly #hosted = new Map<number, LogExecutor>();
  /** Executors of partitions that were revoked, until their last calls have ended. */
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
   * Begins nothing new, waits at most `timeoutMs` for running calls, then leaves the group.
   * @returns false if something was aborted: a call, writing its outcome, or a take-over.
   */
  async stop(timeoutMs: number): Promise<boolean> {
    this.#abort.abort();
    const all = [...this.#hosted.values(), ...this.#leaving];
    let isLate = false;
    // Set before the executors' own timers, so that it fires before the work that they abort has
    // ended.
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
    // Its calls have time limits of their own.
    void executor.close(Number.POSITIVE_INFINITY).then(() => this.#leaving.delete(executor));
  }

  /**
   * Restarts an executor that was fenced or has failed, for as long as its partition is assigned
   * here.
   */
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
