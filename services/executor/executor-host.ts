/**
 * An executor among others: follows the allowed calls of each partition number that its group gives it.
 * A number that goes to another is let go of at once: calls that still run there are told `unknown` by
 * the new owner, and reconciled by their late results.
 */
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

type Hosted = {
  readonly executor: LogExecutor;
  closing: Promise<void> | null;
};

const LOOK_EVERY_MS = 500;
const WAITING: ExecutorStatus = { state: "restoring", error: null };

export class ExecutorHost {
  readonly #parts: ExecutorHostParts;
  readonly #hosted = new Map<number, Hosted>();
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
    const partitions = assignment.numbers.map((partition) => ({
      ...(this.#hosted.get(partition)?.executor.status ?? WAITING),
      partition,
    }));
    const running = partitions.every(({ state }) => state === "running");
    return { ready: joined && running && !this.#abort.signal.aborted, joined, partitions };
  }

  /** Begins nothing new, waits for what runs at most so long, then leaves the group. */
  async stop(timeoutMs: number): Promise<void> {
    this.#abort.abort();
    await Promise.all([...this.#hosted.keys()].map((one) => this.#close(one, timeoutMs)));
    await this.#looking;
    await this.#parts.membership.leave();
  }

  #reconcile({ numbers }: Assignment): void {
    if (this.#abort.signal.aborted) return;
    for (const partition of this.#hosted.keys()) {
      if (!numbers.includes(partition)) void this.#close(partition, 0);
    }
    for (const partition of numbers) {
      if (!this.#hosted.has(partition)) this.#open(partition);
    }
  }

  #open(partition: number): void {
    const executor = new LogExecutor({ ...this.#parts, partition });
    this.#hosted.set(partition, { executor, closing: null });
    executor.start();
  }

  /** One that was fenced, or failed, is begun again for as long as its number is ours. */
  async #look(): Promise<void> {
    while (!this.#abort.signal.aborted) {
      await this.#parts.clock.sleep(LOOK_EVERY_MS, this.#abort.signal);
      for (const [partition, { executor }] of this.#hosted) {
        const { state } = executor.status;
        if (state === "not_owner" || state === "closed") void this.#close(partition, 0);
      }
    }
  }

  #close(partition: number, timeoutMs: number): Promise<void> {
    const hosted = this.#hosted.get(partition);
    if (hosted === undefined) return Promise.resolve();
    hosted.closing ??= hosted.executor.close(timeoutMs).then(() => {
      this.#hosted.delete(partition);
      this.#reconcile(this.#parts.membership.assignment);
    });
    return hosted.closing;
  }
}
