/**
 * The gate: runs the stream task of each partition that its membership gives it. On Kafka that is a place
 * in a group; embedded it is fixed (fixed-membership.ts).
 *
 * HOST-1 a number has at most one task in this process: the one before it has ended before the next begins.
 * HOST-2 a number that stays ours across a rebalance keeps its task, and its state.
 * HOST-3 a task whose number went to another is closed at once; what it still commits is fenced by the new
 *    owner.
 * HOST-4 a running task that does not turn ends the process: heartbeats would keep its number for ever.
 * HOST-5 a task that closed because another fenced it is begun again for as long as the group says that
 *    the partition is ours; where there is no group it stays closed.
 * HOST-6 a number that cannot be run is kept, so that nobody else tries it in turn; a gate that can run none of
 *    its partitions ends the process.
 */
import type { CompiledPolicy } from "../core/policy/compiled.ts";
import type { RegisteredSecrets } from "../runtime/anchor.ts";
import { coreFold } from "../runtime/core-engine.ts";
import { FatalError } from "../runtime/errors.ts";
import type { CommittedRecord } from "../runtime/journal.ts";
import type { HeadStore } from "../runtime/journal-head.ts";
import { Listeners } from "../runtime/listeners.ts";
import type { Assignment, Membership } from "../runtime/membership.ts";
import type {
  CheckpointStore,
  Clock,
  Codec,
  Log,
  Logger,
  Metrics,
  Ownership,
  ProposalAuthority,
} from "../runtime/ports.ts";
import type { ReadContext } from "../runtime/restore-context.ts";
import { StreamTask } from "../runtime/task.ts";
import type { TaskContext, TaskOptions, TaskStatus } from "../runtime/task-context.ts";
import { Watchdog } from "../runtime/watchdog.ts";
import {
  createSwitchableEngine,
  journalKeepMs,
  type SwitchableEngine,
  taskOptionsFor,
} from "./gate-engine.ts";
import { Standby } from "./standby.ts";

/** What an operator may set, and what a test must shorten; the rest follows from the policy. */
export type GateTuning = Partial<
  Pick<
    TaskOptions,
    | "batch"
    | "checkpointEvery"
    | "idleRecordAfterMs"
    | "journalSpanMs"
    | "lingerMs"
    | "offsetsGraceMs"
    | "readBytesMax"
    | "waitMsMax"
  >
>;

export type GateHostParts = {
  readonly log: Log;
  readonly ownership: Ownership;
  readonly checkpoints: CheckpointStore | null;
  /** Absent or null: nobody remembers how far the journal had come. */
  readonly heads?: HeadStore | null;
  /** Absent or null: the journal does not say which secrets it was written with. */
  readonly secrets?: RegisteredSecrets | null;
  readonly codec: Codec;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly policy: CompiledPolicy;
  /** How long the journal is kept at least; raised to what the policy needs. */
  readonly keepMs: number;
  /** Absent: whoever writes proposals is trusted. */
  readonly authority?: ProposalAuthority | undefined;
  readonly membership: Membership;
  readonly tuning: GateTuning;
  /** Done before the group is joined; ends when it is aborted, and never rejects. */
  readonly warmUp?: (signal: AbortSignal) => Promise<unknown>;
};

export type CommittedListener = (records: readonly CommittedRecord[], partition: number) => void;
export type StatusListener = (status: TaskStatus, partition: number) => void;

export type PartitionStatus = TaskStatus & { readonly partition: number };

export type GateHostStatus = {
  /** In the group, and every number that is ours is running. */
  readonly ready: boolean;
  readonly joined: boolean;
  readonly epoch: number;
  /** By number; of those that are ours. */
  readonly partitions: readonly PartitionStatus[];
};

type Hosted = {
  readonly task: StreamTask;
  /** What it had turned when it was last looked at. */
  turns: number;
  readonly watchdog: Watchdog;
  /** Set once it is being closed: resolves when it has ended. */
  closing: Promise<void> | null;
};

const RESTART_MS = 500;
/**
 * Time for the batches in flight. A checkpoint that takes longer is written on while the next owner takes
 * over: it is compared with what the store has.
 */
const LEAVE_WITHIN_MS = 300;
const LOOK_MS = 1_000;
/**
 * How long a gate that starts prepares the states of partitions that others own before it joins: with the warm-up
 * before it, less than a session. While these are alive they go on; and where one is not, nobody gets its partitions sooner.
 */
const PREPARE_MS_MAX = 3_000;
/** Who starts a gate to exchange another ends that one soon. */
const FOLLOW_MS = 30_000;
/** Longer than any turn may take: each of its waits for the log has a bound of its own. */
const TASK_IDLE_MS_MAX = 60_000;
/** A task looks at least so often whether a deadline has come, and shows that it is not stuck. */
const WAIT_MS_MAX = 2_000;
/** From what is best to what is worst. */
const ORDER: readonly TaskStatus["state"][] = ["running", "restoring", "suspended", "closed"];
const WAITING: TaskStatus = { state: "restoring", detail: "restoring", error: null };

export class GateHost {
  readonly #parts: GateHostParts;
  /** Of the tasks that begin from here on. */
  #options: TaskOptions;
  readonly #engine: SwitchableEngine;
  readonly #hosted = new Map<number, Hosted>();
  readonly #committed: Listeners<readonly [readonly CommittedRecord[], number]>;
  /** Tasks that tell `#committed`. */
  readonly #relayed = new WeakSet<StreamTask>();
  readonly #statuses: Listeners<readonly [TaskStatus, number]>;
  #keepMs: number;
  /** Resolves, with the reason, when this process must end with an error. Never rejects. */
  readonly failed: Promise<Error>;
  #fail: (error: Error) => void = () => undefined;
  readonly #standby: Standby;
  readonly #stopping = new AbortController();
  #look: NodeJS.Timeout | null = null;
  #stopped: Promise<void> | null = null;
  #abandon: (() => void) | null = null;

  constructor(parts: GateHostParts) {
    this.#parts = parts;
    this.#keepMs = Math.max(parts.keepMs, journalKeepMs(parts.policy));
    this.#options = this.#optionsFor(parts.policy);
    this.#engine = createSwitchableEngine(parts.policy);
    this.#committed = new Listeners(parts.logger);
    this.#statuses = new Listeners(parts.logger);
    this.failed = new Promise((resolve) => {
      this.#fail = resolve;
    });
    void parts.membership.failed.then((error) => this.#fail(error));
    const { clock, logger, metrics } = parts;
    const contextOf = (partition: number): ReadContext => {
      const { log, checkpoints, codec } = this.#parts;
      const spanMs = this.#options.journalSpanMs;
      const read = { partition, log, checkpoints, codec, clock, logger, spanMs };
      return { ...read, metrics, fold: coreFold };
    };
    this.#standby = new Standby({ contextOf, clock, logger, followMs: FOLLOW_MS });
  }

  /** How long the journal must be kept, ms: what the longest of its policies so far needs. */
  get keepMs(): number {
    return this.#keepMs;
  }

  /** Joins the group; resolves with the first assignment, before its partitions are restored. */
  async start(): Promise<void> {
    this.#look ??= setInterval(() => this.#watch(), LOOK_MS).unref();
    await this.#parts.warmUp?.(this.#stopping.signal);
    if (this.#stopped !== null) return;
    await this.#prepare();
    await this.#parts.membership.join((assignment) => this.#reconcile(assignment));
  }

  async #prepare(): Promise<void> {
    const late = new AbortController();
    const inTime = this.#parts.clock.sleep(PREPARE_MS_MAX, late.signal);
    await Promise.race([this.#prepareExpected(), inTime]);
    late.abort();
  }

  async #prepareExpected(): Promise<void> {
    const { membership, log } = this.#parts;
    const expected = (await membership.expected?.(log.partitions)) ?? [];
    if (expected.length > 0 && this.#stopped === null) await this.#standby.prepare(expected);
  }

  status(): GateHostStatus {
    const { joined, assignment } = this.#parts.membership;
    const partitions = assignment.partitions.map((partition) => ({
      ...(this.#hosted.get(partition)?.task.status ?? WAITING),
      partition,
    }));
    const running = partitions.every(({ state }) => state === "running");
    const ready = joined && running && this.#stopped === null;
    return { ready, joined, epoch: assignment.epoch, partitions };
  }

  /** Of the task of ours that is worst off. A client asks with every call that it proposes. */
  worstStatus(): TaskStatus {
    let worst: TaskStatus | undefined;
    for (const { task } of this.#hosted.values()) {
      const { status } = task;
      const isWorse =
        worst === undefined || ORDER.indexOf(status.state) > ORDER.indexOf(worst.state);
      if (isWorse) worst = status;
    }
    return worst ?? WAITING;
  }

  /** Records in journal order within a partition, once each, after they are durable; from its next batch on. */
  onCommitted(listener: CommittedListener): () => void {
    const stop = this.#committed.add(([records, partition]) => listener(records, partition));
    for (const [partition, { task }] of this.#hosted) this.#relay(task, partition);
    return stop;
  }

  onStatus(listener: StatusListener): () => void {
    return this.#statuses.add(([status, partition]) => listener(status, partition));
  }

  /** Decides under this policy from the next record on. */
  setPolicy(policy: CompiledPolicy): void {
    this.#keepMs = Math.max(this.#keepMs, journalKeepMs(policy));
    const { journalSpanMs } = this.#options;
    const options = this.#optionsFor(policy);
    // What was decided under the policy before may matter for as long as that said.
    const spanMs = Math.max(journalSpanMs, options.journalSpanMs);
    this.#options = { ...options, journalSpanMs: spanMs };
    this.#engine.setPolicy(policy);
  }

  #optionsFor(policy: CompiledPolicy): TaskOptions {
    const tuning = { waitMsMax: WAIT_MS_MAX, ...this.#parts.tuning };
    return { ...taskOptionsFor(policy, this.#keepMs), ...tuning };
  }

  /**
   * Finishes the transactions in flight, writes checkpoints, leaves the group. A second call while
   * the first is under way waits for nothing more: it resolves both, and the process may end.
   */
  stop(): Promise<void> {
    if (this.#stopped !== null) {
      this.#abandon?.();
      return this.#stopped;
    }
    const abandoned = new Promise<void>((resolve) => {
      this.#abandon = resolve;
    });
    this.#stopped = Promise.race([this.#finish(), abandoned]);
    return this.#stopped;
  }

  async #finish(): Promise<void> {
    if (this.#look !== null) clearInterval(this.#look);
    this.#stopping.abort();
    this.#standby.close();
    const closed = Promise.all([...this.#hosted.keys()].map((partition) => this.#close(partition)));
    const patience = new AbortController();
    await Promise.race([closed, this.#parts.clock.sleep(LEAVE_WITHIN_MS, patience.signal)]);
    patience.abort();
    await this.#parts.membership.leave();
    await closed;
  }

  #reconcile({ partitions }: Assignment): void {
    if (this.#stopped !== null) return;
    for (const partition of this.#hosted.keys()) {
      if (!partitions.includes(partition)) void this.#close(partition);
    }
    for (const partition of partitions) {
      if (!this.#hosted.has(partition)) this.#open(partition);
    }
  }

  #open(partition: number): void {
    const { log, ownership, checkpoints, codec, authority, clock, logger, metrics } = this.#parts;
    const { heads = null, secrets = null } = this.#parts;
    const context: TaskContext = {
      ...{ partition, log, ownership, checkpoints, codec, authority, clock, logger, metrics },
      ...{ heads, secrets },
      fold: coreFold,
      options: this.#options,
      prepared: () => this.#standby.take(partition),
    };
    const task = new StreamTask(context, this.#engine.engine);
    const watchdog = new Watchdog({
      limitMs: TASK_IDLE_MS_MAX,
      onStuck: (idleMs) => {
        const text = `partition ${partition} did not turn for ${idleMs} ms`;
        this.#fail(new FatalError("unexpected", text));
      },
    });
    const hosted: Hosted = { task, watchdog, turns: 0, closing: null };
    this.#hosted.set(partition, hosted);
    if (!this.#committed.isEmpty) this.#relay(task, partition);
    task.onStatus((status) => {
      this.#statuses.tell([status, partition]);
      if (status.detail === "not_owner" && this.#parts.membership.isShared) {
        void this.#restart(partition, hosted);
      }
      if (status.detail === "failed") this.#failIfNoneRuns(status);
    });
    task.start();
  }

  /** Not before somebody has listened: a task that has nobody to tell keeps no records. */
  #relay(task: StreamTask, partition: number): void {
    if (this.#relayed.has(task)) return;
    this.#relayed.add(task);
    task.onCommitted((records) => this.#committed.tell([records, partition]));
  }

  #failIfNoneRuns({ error }: TaskStatus): void {
    const { partitions } = this.status();
    const none = partitions.every(({ detail }) => detail === "failed");
    if (none && this.#stopped === null) this.#fail(error ?? new Error("no partition can be run"));
  }

  #watch(): void {
    for (const hosted of this.#hosted.values()) {
      const { task, watchdog, turns } = hosted;
      if (task.status.state !== "running" || hosted.closing !== null) watchdog.disarm();
      else if (task.turns !== turns) watchdog.turn();
      hosted.turns = task.turns;
    }
  }

  async #restart(partition: number, hosted: Hosted): Promise<void> {
    await this.#parts.clock.sleep(RESTART_MS);
    if (this.#hosted.get(partition) === hosted) await this.#close(partition);
  }

  #close(partition: number): Promise<void> {
    const hosted = this.#hosted.get(partition);
    if (hosted === undefined) return Promise.resolve();
    hosted.watchdog.disarm();
    hosted.closing ??= hosted.task.close().then(() => {
      // Of a host that stops the last status can still be asked for.
      if (this.#stopped !== null) return;
      this.#hosted.delete(partition);
      this.#reconcile(this.#parts.membership.assignment);
    });
    return hosted.closing;
  }
}
