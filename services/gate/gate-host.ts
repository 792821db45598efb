/**
 * The gate: runs the stream task of each partition that its membership assigns to it. On Kafka the
 * membership is one in a group; embedded it is `FixedMembership`.
 *
 * HOST-1 a partition has at most one task in this process: the previous one has ended before the
 *    next starts.
 * HOST-2 a partition that stays ours across a rebalance keeps its task, and its state.
 * HOST-3 a task whose partition went to another gate is closed at once; the new owner fences what
 *    it still commits.
 * HOST-4 a running task that does not turn ends the process: heartbeats would keep its partition
 *    for ever.
 * HOST-5 a task that closed because another owner fenced it is started again as long as the group
 *    assigns the partition to us; where there is no group it stays closed.
 * HOST-6 a partition that cannot be run stays assigned, so that no other gate tries it in turn; a
 *    gate that can run none of its partitions ends the process.
 */
import type { CompiledPolicy } from "../core/policy/compiled.ts";
import type { RegisteredSecrets } from "../runtime/anchor.ts";
import { ConversationBounds, type ConversationLimits } from "../runtime/conversation-bounds.ts";
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
import type { LocalStates, ReadContext } from "../runtime/restore-context.ts";
import type { StateStore } from "../runtime/state-store.ts";
import { StreamTask } from "../runtime/task.ts";
import type { TaskContext, TaskOptions, TaskStatus } from "../runtime/task-context.ts";
import { Watchdog } from "../runtime/watchdog.ts";
import {
  assertScopes,
  createSwitchableEngine,
  journalKeepMs,
  type SwitchableEngine,
  taskOptionsFor,
} from "./gate-engine.ts";
import { Standby } from "./standby.ts";

/**
 * What an operator may set, and what a test must shorten; the other options follow from the policy.
 */
export type GateTuning = Partial<
  Pick<
    TaskOptions,
    | "batch"
    | "checkpointEvery"
    | "eventSource"
    | "idleRecordAfterMs"
    | "journalSpanMs"
    | "lingerMs"
    | "offsetsGraceMs"
    | "readBytesMax"
    | "waitMsMax"
  >
>;

/** Where conversations are that do not fit into memory. */
export type GateStates = {
  readonly store: StateStore;
  /** Bytes of memory for the conversations of all partitions and their indexes. */
  readonly memoryBytes: number;
};

export type GateHostParts = {
  readonly log: Log;
  readonly ownership: Ownership;
  readonly checkpoints: CheckpointStore | null;
  /** Absent or null: all conversations stay in memory. */
  readonly states?: GateStates | null;
  /** For new conversations, over all partitions; absent: there may be any number. */
  readonly limits?: ConversationLimits;
  /** Absent or null: nobody stores how far the journal had come. */
  readonly heads?: HeadStore | null;
  /** Absent or null: the journal does not say which secrets it was written with. */
  readonly secrets?: RegisteredSecrets | null;
  readonly codec: Codec;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly policy: CompiledPolicy;
  /** How long the journal is retained at least, ms; raised to what the policy needs. */
  readonly keepMs: number;
  /** Absent: whoever writes proposals is trusted. */
  readonly authority?: ProposalAuthority | undefined;
  readonly membership: Membership;
  readonly tuning: GateTuning;
  /** Runs before the gate joins its group; ends when the signal aborts, and never rejects. */
  readonly warmUp?: (signal: AbortSignal) => Promise<unknown>;
};

export type CommittedListener = (records: readonly CommittedRecord[], partition: number) => void;
export type StatusListener = (status: TaskStatus, partition: number) => void;

export type PartitionStatus = TaskStatus & { readonly partition: number };

export type GateHostStatus = {
  /** True when the gate is in the group and every partition of ours is running. */
  readonly ready: boolean;
  readonly joined: boolean;
  readonly epoch: number;
  /** Our partitions, in ascending order. */
  readonly partitions: readonly PartitionStatus[];
};

type Hosted = {
  readonly task: StreamTask;
  /** The task's turns when it was last checked. */
  turns: number;
  readonly watchdog: Watchdog;
  /** Set once the task is being closed: resolves when it has ended. */
  closing: Promise<void> | null;
};

const RESTART_MS = 500;
/**
 * Time for the batches in flight. A checkpoint that takes longer is still being written while the
 * next owner takes over; its save is compared with what the store has.
 */
const LEAVE_WITHIN_MS = 300;
const LOOK_MS = 1_000;
/**
 * How long a starting gate prepares the states of partitions of other owners before it joins: with
 * the warm-up before it, less than a session. Living owners go on deciding meanwhile, and the
 * partitions of a dead one are not reassigned sooner anyway.
 */
const PREPARE_MS_MAX = 3_000;
/**
 * How long prepared states are followed: an operator who starts a gate to replace another soon ends
 * that one.
 */
const FOLLOW_MS = 30_000;
/** Longer than any turn may take: each of its waits for the log has a bound of its own. */
const TASK_IDLE_MS_MAX = 60_000;
/** How often a task checks its deadlines at least, and shows that it is not stuck. */
const WAIT_MS_MAX = 2_000;
/** Task states from best to worst. */
const ORDER: readonly TaskStatus["state"][] = ["running", "restoring", "suspended", "closed"];
const WAITING: TaskStatus = { state: "restoring", detail: "restoring", error: null };

export class GateHost {
  readonly #parts: GateHostParts;
  /** Options of the tasks that start from now on. */
  #options: TaskOptions;
  readonly #engine: SwitchableEngine;
  readonly #hosted = new Map<number, Hosted>();
  readonly #committed: Listeners<readonly [readonly CommittedRecord[], number]>;
  /** Tasks whose records reach the listeners. */
  readonly #relayed = new WeakSet<StreamTask>();
  readonly #statuses: Listeners<readonly [TaskStatus, number]>;
  #keepMs: number;
  /** Resolves, with the reason, when this process must end with an error. Never rejects. */
  readonly failed: Promise<Error>;
  #fail: (error: Error) => void = () => undefined;
  readonly #states: LocalStates | null;
  readonly #bounds: ConversationBounds;
  readonly #standby: Standby;
  readonly #stopping = new AbortController();
  #look: NodeJS.Timeout | null = null;
  #stopped: Promise<void> | null = null;
  #abandon: (() => void) | null = null;

  constructor(parts: GateHostParts) {
    assertScopes(parts.policy, parts.log.partitions);
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
    const { clock, logger, metrics, limits = {} } = parts;
    const stateStore = parts.states?.store ?? null;
    const stateBytes = stateStore === null ? null : () => stateStore.bytes;
    this.#bounds = new ConversationBounds({ limits, clock, stateBytes });
    const contextOf = (partition: number): ReadContext => {
      const { log, checkpoints, codec } = this.#parts;
      const states = this.#states;
      const spanMs = this.#options.journalSpanMs;
      const read = { partition, log, checkpoints, states, codec, clock, logger, spanMs };
      return { ...read, metrics, fold: coreFold };
    };
    this.#states =
      parts.states === null || parts.states === undefined ? null : this.#shareStates(parts.states);
    this.#standby = new Standby({ contextOf, clock, logger, followMs: FOLLOW_MS });
  }

  /** How long the journal must be retained, ms: the longest that any policy so far needs. */
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

  /** Number of conversations in memory, and of those in the state store alone. */
  conversations(): { readonly memory: number; readonly store: number } {
    return this.#bounds.count();
  }

  /** Status of our task in the worst state. A client asks with every call that it proposes. */
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

  /**
   * Calls the listener with durable records, in journal order within a partition, once each, from
   * its next batch on.
   */
  onCommitted(listener: CommittedListener): () => void {
    const stop = this.#committed.add(([records, partition]) => listener(records, partition));
    for (const [partition, { task }] of this.#hosted) this.#relay(task, partition);
    return stop;
  }

  onStatus(listener: StatusListener): () => void {
    return this.#statuses.add(([status, partition]) => listener(status, partition));
  }

  /** Decides under this policy from the next record on. @throws as `assertScopes`. */
  setPolicy(policy: CompiledPolicy): void {
    assertScopes(policy, this.#parts.log.partitions);
    this.#keepMs = Math.max(this.#keepMs, journalKeepMs(policy));
    const { journalSpanMs } = this.#options;
    const options = this.#optionsFor(policy);
    // Decisions under the previous policy may matter for as long as that policy said.
    const spanMs = Math.max(journalSpanMs, options.journalSpanMs);
    this.#options = { ...options, journalSpanMs: spanMs };
    this.#engine.setPolicy(policy);
  }

  #shareStates({ store, memoryBytes }: GateStates): LocalStates {
    return { store, memoryBytes: () => memoryBytes / Math.max(this.#hosted.size, 1) };
  }

  #optionsFor(policy: CompiledPolicy): TaskOptions {
    const tuning = { waitMsMax: WAIT_MS_MAX, ...this.#parts.tuning };
    return { ...taskOptionsFor(policy, this.#keepMs), ...tuning };
  }

  /**
   * Finishes the transactions in flight, writes checkpoints, and leaves the group. A second call
   * while the first is under way stops the waiting: both resolve, and the process may end.
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
    const states = this.#states;
    const context: TaskContext = {
      ...{ partition, log, ownership, checkpoints, codec, authority, clock, logger, metrics },
      ...{ heads, secrets, states, bounds: this.#bounds },
      fold: coreFold,
      options: this.#options,
      prepared: () => this.#standby.take(partition),
    };
    const task = new StreamTask(context, this.#engine.engine);
    const watchdog = new Watchdog({
      limitMs: TASK_IDLE_MS_MAX,
      onStuck: (idleMs) => {
        const text = `the task of partition ${partition} made no turn for ${idleMs} ms`;
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

  /** Called only once there is a listener: a task without listeners keeps no records in memory. */
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
      // A stopping host can still be asked for the last status.
      if (this.#stopped !== null) return;
      this.#hosted.delete(partition);
      this.#reconcile(this.#parts.membership.assignment);
    });
    return hosted.closing;
  }
}
