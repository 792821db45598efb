/** Webhooks of one log: follows it, and sends each target what it hears of. */
import { type DirectoryLock, lockDirectory } from "../adapters/files/lock-directory.ts";
import { DeliveryStore } from "../adapters/lmdb/delivery-store.ts";
import type { ProcessMetrics } from "../adapters/metrics/process-metrics.ts";
import { systemClock } from "../adapters/system/clock.ts";
import type { Resolve } from "../adapters/webhooks/check-address.ts";
import type { Clock, Log, Logger } from "../runtime/ports.ts";
import { JOURNAL_TOPIC } from "../runtime/topics.ts";
import { type DeliverParts, TargetSender } from "./deliver.ts";
import { type FollowedPartition, type FollowParts, LogFollower } from "./follow-log.ts";
import type { NotifyEvent } from "./notify-event.ts";
import { compileTargets, type Target, type TargetConfig } from "./target.ts";

const TIMEOUT_MS = 10_000;
const SOURCE = "/callgate";
const GONE = "the configuration no longer has this target";

export type NotifierParts = {
  /** The log of the gate, on any of its ports; it is not closed. */
  readonly log: Log;
  readonly codec: FollowParts["codec"];
  /** `notify.targets` of the configuration, checked. */
  readonly targets: readonly TargetConfig[];
  /** Where positions and deliveries are stored; one process at a time. */
  readonly directory: string;
  readonly logger: Logger;
  readonly metrics: Pick<ProcessMetrics, "add" | "watch">;
  /** Called once, when the notifier cannot go on: it sends nothing more. */
  readonly fail: (error: unknown) => void;
  /** Where the first start in this directory begins to read the log. Default: `end`. */
  readonly from?: "start" | "end";
  /** `notify.source`. Default: `/callgate` */
  readonly source?: string;
  /** `notify.timeoutMs`. Default: 10 s */
  readonly timeoutMs?: number;
  /** Default: the host's. */
  readonly clock?: Clock;
  /** Stands in for DNS. */
  readonly resolve?: Resolve;
  /** Spreads the retries; from 0 to below 1. */
  readonly random?: () => number;
};

export type TargetStatus = {
  readonly id: string;
  /** Deliveries that wait for their next try, or are under way. */
  readonly pending: number;
  /** Deliveries that were given up; `callgate notify failed` lists them. */
  readonly dead: number;
  /** Why the latest try failed; null: it succeeded, or there was none. */
  readonly problem: string | null;
};

export type NotifierStatus = {
  readonly targets: readonly TargetStatus[];
  readonly partitions: readonly FollowedPartition[];
  /** Time since everything was read the last time, ms; null: it never was. About 1 s when idle. */
  readonly unreadMs: number | null;
};

export interface Notifier {
  status(): NotifierStatus;
  /**
   * Stores what was read and waits at most 3 s for answers that are under way. What is not
   * delivered is sent after the next start. Idempotent.
   */
  close(): Promise<void>;
}

/**
 * Starts to tell the targets what happens in the log: calls that are held, and how each hold ends;
 * conversations that are ended; alerts. Resolves when the position is stored from which on nothing
 * is missed, so a server starts it before it accepts its first request.
 *
 * Each event is delivered at least once, under an id that stays the same, and up to 10 times in 23
 * hours; after that it is in the list of dead deliveries. Neither a crash nor a receiver that is
 * away loses one. A slow receiver delays neither the gate nor other receivers.
 *
 * @throws ExitError where a target's address may not be connected to; PipelineError where the
 *   directory is in use (`role_taken`), belongs to another log (`log_mismatch`) or cannot be
 *   written, and where the log does not answer.
 */
export async function startNotifier(parts: NotifierParts): Promise<Notifier> {
  const { log, logger, directory, clock = systemClock, from = "end", source = SOURCE } = parts;
  const targets = compileTargets(parts.targets, source);
  const lock = await lockDirectory(directory, "notify", clock);
  let store: DeliveryStore<NotifyEvent> | undefined;
  try {
    store = new DeliveryStore<NotifyEvent>(directory);
    store.bind({ clusterId: log.clusterId, topicId: log.topicId(JOURNAL_TOPIC) });
    buryOthers(store, targets, clock, logger);
    const running = new RunningNotifier(parts, targets, store, lock);
    await running.start(from);
    return running;
  } catch (error) {
    await store?.close();
    lock.release();
    throw error;
  }
}

/** A target that is no longer configured may come back, so its deliveries are not dropped. */
function buryOthers(
  store: DeliveryStore<NotifyEvent>,
  targets: readonly Target[],
  clock: Clock,
  logger: Logger,
): void {
  const ids = targets.map(({ id }) => id);
  const deliveries = store.buryOthers(ids, clock.nowMs(), GONE);
  if (deliveries === 0) return;
  logger.warn("gave deliveries up, whose targets are no longer configured", { deliveries });
}

class RunningNotifier implements Notifier {
  readonly #clock: Clock;
  readonly #metrics: NotifierParts["metrics"];
  readonly #fail: (error: unknown) => void;
  readonly #store: DeliveryStore<NotifyEvent>;
  readonly #lock: DirectoryLock;
  readonly #follower: LogFollower;
  readonly #senders: readonly TargetSender[];
  #loops: Promise<unknown> | undefined;
  #closing: Promise<void> | undefined;
  #hasFailed = false;

  constructor(
    parts: NotifierParts,
    targets: readonly Target[],
    store: DeliveryStore<NotifyEvent>,
    lock: DirectoryLock,
  ) {
    const { log, codec, logger, metrics, resolve, clock = systemClock } = parts;
    const { timeoutMs = TIMEOUT_MS, random = Math.random } = parts;
    this.#clock = clock;
    this.#metrics = metrics;
    this.#fail = parts.fail;
    this.#store = store;
    this.#lock = lock;
    const check = (): void => lock.check();
    const count = countIn(metrics);
    this.#senders = targets.map((target) => {
      const sending = { store, clock, logger, timeoutMs, random, resolve, check, count };
      return new TargetSender(target, sending);
    });
    this.#follower = new LogFollower({
      ...{ log, codec, store, targets, clock, logger, check },
      skipped: (records) => metrics.add("notify_skipped", SKIPPED, {}, records),
      added: (dropped) => {
        for (const [target, one] of dropped) count("dropped", target, one);
        for (const sender of this.#senders) sender.wake();
      },
    });
  }

  async start(from: "start" | "end"): Promise<void> {
    await this.#follower.begin(from);
    this.#watchCounts();
    this.#loops = Promise.all([
      this.#guard(() => this.#follower.run()),
      ...this.#senders.map((sender) => this.#guard(() => sender.run())),
    ]);
  }

  status(): NotifierStatus {
    const { readAtMs, partitions } = this.#follower;
    return {
      targets: this.#senders.map(({ id, counts, problem }) => ({ id, ...counts, problem })),
      partitions,
      unreadMs: readAtMs === null ? null : Math.max(0, this.#clock.nowMs() - readAtMs),
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #watchCounts(): void {
    const metrics = this.#metrics;
    metrics.watch("notify_pending", "deliveries that wait for a try", ["target"], () =>
      this.#senders.map(({ id, counts }) => ({ labels: { target: id }, value: counts.pending })),
    );
    metrics.watch("notify_dead", "deliveries that were given up", ["target"], () =>
      this.#senders.map(({ id, counts }) => ({ labels: { target: id }, value: counts.dead })),
    );
  }

  async #close(): Promise<void> {
    this.#follower.stop();
    await Promise.all(this.#senders.map((sender) => sender.stop()));
    await this.#loops;
    try {
      if (!this.#hasFailed) this.#follower.save();
    } finally {
      await this.#store.close();
      this.#lock.release();
    }
  }

  async #guard(loop: () => Promise<void>): Promise<void> {
    try {
      await loop();
    } catch (error) {
      this.#follower.stop();
      for (const sender of this.#senders) void sender.stop();
      const isFirst = !this.#hasFailed;
      this.#hasFailed = true;
      if (isFirst) this.#fail(error);
    }
  }
}

const SKIPPED = "records that nobody could hear of: they could not be read, or were gone";

function countIn(metrics: Pick<ProcessMetrics, "add">): DeliverParts["count"] {
  return (what, target, amount) => {
    const labels = { target };
    switch (what) {
      case "sent":
        return metrics.add("notify_sent", "deliveries that arrived", labels, amount);
      case "failed":
        return metrics.add("notify_failed", "tries that failed", labels, amount);
      case "dropped":
        return metrics.add("notify_dropped", DROPPED, labels, amount);
    }
  };
}

const DROPPED = "deliveries that were given up and are in no list, since it was full";
