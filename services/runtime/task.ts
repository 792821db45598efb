/**
 * The life of one partition: takes it over, restores it, decides its inputs, commits.
 *
 *   start ──► RESTORING ──── restored ────► RUNNING
 *              ▲  │  │                      │  │  │
 *   after a    │  │  └─ log fails, no ──┐   │  │  └── outcome unknown, log or disk fails,
 *   while, or  │  │     policy          ▼   │  │      state corrupt, policy withdrawn
 *   a policy   └──┼────────────── SUSPENDED ◄──┘
 *                 │                     │   │
 *                 └─ fenced, fatal, close ──┴──► CLOSED
 *
 * TASK-1 a decision is made only in RUNNING, on state that is the journal's up to its end.
 * TASK-2 one batch at a time: the next is begun when the commit of the one before it is known.
 * TASK-3 after an outcome that is not known nothing is assumed: the partition is taken over again.
 * TASK-4 a listener gets each journal record once and in order, after it is durable. This holds within
 *    one process: a listener of the next process begins with the records that it commits.
 */
import type { Acceptance } from "./anchor.ts";
import { commitCounted } from "./commit-batch.ts";
import type { Engine } from "./engine.ts";
import { asPipelineError, type PipelineError, StateCorruptError } from "./errors.ts";
import { FailureCount } from "./failure-count.ts";
import { InputQueue, pendingOf, verifyAhead } from "./input-queue.ts";
import type { CommittedRecord } from "./journal.ts";
import { Listeners } from "./listeners.ts";
import type { PartitionState } from "./partition-state.ts";
import type { PartitionWriter } from "./ports.ts";
import {
  BatchBuilder,
  type BatchContext,
  type FetchedInput,
  type StagedBatch,
} from "./process-batch.ts";
import { restorePartition } from "./restore.ts";
import {
  assertTransition,
  batchContextOf,
  retryable,
  type TaskContext,
  type TaskState,
  type TaskStatus,
} from "./task-context.ts";
import { TaskSavers } from "./task-savers.ts";
import { TickSender } from "./tick-sender.ts";

const BACKOFF_MS_MIN = 250;
const BACKOFF_MS_MAX = 5_000;
/** Rebuilds in a row without a commit between them before an operator must look. */
const REBUILDS_MAX = 3;

const NOT_WRITABLE = "it cannot be written as a journal record";

type Run = { readonly writer: PartitionWriter; readonly state: PartitionState };

export class StreamTask {
  readonly #context: TaskContext;
  readonly #abort = new AbortController();
  readonly #queue: InputQueue;
  readonly #ticks: TickSender;
  readonly #savers: TaskSavers;
  readonly #failures = new FailureCount();
  readonly #committed: Listeners<readonly CommittedRecord[]>;
  readonly #statuses: Listeners<TaskStatus>;
  #status: TaskStatus = { state: "restoring", detail: "restoring", error: null };
  #engine: Engine | null;
  #wakePolicy: (() => void) | null = null;
  #inMemory: PartitionState | null = null;
  /** A loss that a person accepted, until a journal record reports it. */
  #acceptance: Acceptance | null = null;
  #reportedSeq: number | null = null;
  /** A stored state could not be read: the next restore uses the journal alone. */
  #distrustsStored = false;
  #backoffMs = BACKOFF_MS_MIN;
  #rebuilds = 0;
  /** Whether the turn before this one had nothing to do. */
  #rested = true;
  /** How long the latest commit took. */
  #commitMs = 0;
  #turns = 0;
  #ended: Promise<void> | null = null;

  /** @param engine null: no policy yet; nothing is decided until `setEngine`. */
  constructor(context: TaskContext, engine: Engine | null) {
    this.#context = context;
    this.#engine = engine;
    const { partition, log, codec, clock, logger, metrics, options } = context;
    this.#savers = new TaskSavers(context);
    this.#queue = new InputQueue(log, partition, {
      recordsMax: options.batch.inputsMax,
      bytesMax: options.readBytesMax,
    });
    this.#ticks = new TickSender({ partition, log, codec, clock, logger, metrics });
    this.#committed = new Listeners(logger);
    this.#statuses = new Listeners(logger);
  }

  get status(): TaskStatus {
    return this.#status;
  }

  /** Grows as long as a running task is not stuck. */
  get turns(): number {
    return this.#turns;
  }

  /**
   * Calls the listener with durable records in journal order, once each, from the next batch on.
   * Returns a function that removes the listener.
   */
  onCommitted(listener: (records: readonly CommittedRecord[]) => void): () => void {
    return this.#committed.add(listener);
  }

  onStatus(listener: (status: TaskStatus) => void): () => void {
    return this.#statuses.add(listener);
  }

  /** Decides under another policy from the next batch on; null: decides nothing more. */
  setEngine(engine: Engine | null): void {
    this.#engine = engine;
    this.#wakePolicy?.();
  }

  start(): void {
    this.#ended ??= this.#main();
  }

  /** Finishes the batch in flight, writes a checkpoint, and gives the partition up. */
  async close(): Promise<void> {
    this.#abort.abort();
    this.#wakePolicy?.();
    await this.#ended;
    this.#become("closed", "closed", this.#status.error);
  }

  async #main(): Promise<void> {
    while (!this.#abort.signal.aborted && this.#status.state !== "closed") {
      try {
        if (this.#engine === null) {
          await this.#waitForPolicy();
        } else {
          this.#become("restoring", "restoring", null);
          await this.#live();
        }
      } catch (error) {
        await this.#recover(asPipelineError(error));
      }
    }
    this.#context.bounds?.release(this.#context.partition);
  }

  async #waitForPolicy(): Promise<void> {
    this.#become("suspended", "no_policy", null);
    await new Promise<void>((resolve) => {
      this.#wakePolicy = resolve;
      if (this.#engine !== null || this.#abort.signal.aborted) resolve();
    });
    this.#wakePolicy = null;
  }

  /** Runs from the take-over until the task is closed, has no policy, or fails. */
  async #live(): Promise<void> {
    const run = await this.#restore();
    this.#become("running", "running", null);
    try {
      while (!this.#abort.signal.aborted && this.#engine !== null) {
        await this.#turn(run, this.#engine);
      }
      await this.#savers.finish(run.state);
    } finally {
      await this.#savers.end(run.state);
      await run.writer.close();
    }
  }

  async #restore(): Promise<Run> {
    const { partition, log, ownership, checkpoints, codec, clock, logger, metrics } = this.#context;
    const { options, fold } = this.#context;
    const startedMs = clock.nowMs();
    const first = this.#reportedSeq === null;
    metrics.count("take_overs");
    const inMemory = this.#inMemory;
    const distrusts = this.#distrustsStored;
    const store = distrusts ? null : checkpoints;
    // If the replay fails half way, what was in memory is not what it was: it is taken up again only
    // when all of it has fitted.
    this.#inMemory = null;
    const restored = await restorePartition(
      {
        ...{ partition, log, ownership, codec, clock, logger, metrics, fold },
        checkpoints: store,
        states: this.#context.states ?? null,
        distrustsStore: distrusts,
        heads: this.#context.heads ?? null,
        secrets: this.#context.secrets ?? null,
        spanMs: options.journalSpanMs,
        offsetsGraceMs: options.offsetsGraceMs,
        reportedSeq: this.#reportedSeq,
        onStart: (start) => this.#savers.beginReplay(start),
        makeRoom: (state) => this.#savers.makeRoom(state),
        onReplayed: (records) => {
          if (!first) this.#report(records);
        },
      },
      async () => {
        if (inMemory !== null) {
          return { state: inMemory, hashesFromSeq: 0, stored: null, inStoreSeq: null };
        }
        return (first ? await this.#context.prepared?.() : null) ?? null;
      },
    );
    const { state, writer, source, stored, replayed, fencedMs } = restored;
    this.#inMemory = state;
    this.#acceptance = restored.acceptance;
    this.#reportedSeq ??= state.progress.seq;
    this.#distrustsStored = false;
    this.#savers.begin(stored, source === "inMemory");
    const { next } = state.progress;
    this.#context.bounds?.track(partition, state);
    this.#queue.reset(state.progress);
    this.#ticks.reset();
    const elapsedMs = clock.nowMs() - startedMs;
    metrics.observe("restore", elapsedMs);
    const times = { fencedMs, elapsedMs };
    logger.info("a partition was restored", { partition, source, replayed, ...times, ...next });
    return { writer, state };
  }

  async #turn(run: Run, engine: Engine): Promise<void> {
    this.#turns += 1;
    if (this.#acceptance !== null) await this.#journalAcceptance(run, engine);
    await this.#queue.fill();
    await this.#linger();
    await this.#ticks.send(run.state);
    const inputs = this.#failures.isSingle ? 1 : this.#context.options.batch.inputsMax;
    this.#queue.arrange(inputs, run.state.progress.ahead);
    await verifyAhead(this.#context.authority, this.#queue);
    // The inputs before one that must wait have been decided by now.
    await this.#pending(this.#queue.peek());
    const builder = new BatchBuilder(this.#batchContext(engine), run.state);
    const first = this.#gather(builder, inputs);
    if (first === undefined && this.#context.clock.nowMs() < this.#idleAtMs(run.state)) {
      if (this.#pending(this.#queue.peek()) === null) await this.#wait(run.state);
      return;
    }
    if (first === undefined) builder.addIdle();
    await this.#commit(run, builder.build(), first);
  }

  /** Journals the acceptance before anything is decided. */
  async #journalAcceptance(run: Run, engine: Engine): Promise<void> {
    const builder = new BatchBuilder(this.#batchContext(engine), run.state);
    builder.addIdle();
    await this.#commit(run, builder.build(), undefined);
  }

  /**
   * Waits for a batch to fill, up to its age. Only after an idle turn, since the next batch fills
   * anyway while a commit is under way; and only where commits take longer than the wait, so that
   * saving one is worth it.
   */
  async #linger(): Promise<void> {
    const { lingerMs, batch } = this.#context.options;
    const { size } = this.#queue;
    const rested = this.#rested;
    if (size > 0) this.#rested = false;
    if (lingerMs === 0 || !rested || this.#commitMs <= lingerMs) return;
    if (size === 0 || size >= batch.inputsMax) return;
    await this.#context.clock.sleep(lingerMs, this.#abort.signal);
    await this.#queue.fill();
  }

  #pending(input: FetchedInput | undefined): Promise<void> | null {
    return pendingOf(this.#context, input);
  }

  #gather(builder: BatchBuilder, inputsMax: number): FetchedInput | undefined {
    const limits = { inputsMax, bytesMax: this.#context.options.batch.bytesMax };
    let first: FetchedInput | undefined;
    while (!builder.isFull(limits)) {
      const input = this.#queue.peek();
      if (input === undefined || this.#pending(input) !== null) break;
      first ??= input;
      const next = this.#queue.take();
      const code = this.#failures.quarantine(input);
      if (code === null) builder.add(input, next);
      else builder.quarantine(input, next, { code, message: NOT_WRITABLE });
    }
    return first;
  }

  async #commit(run: Run, batch: StagedBatch, first: FetchedInput | undefined): Promise<void> {
    const { clock, metrics } = this.#context;
    const startedMs = clock.nowMs();
    const outcome = await commitCounted(this.#context, run, batch);
    this.#commitMs = clock.nowMs() - startedMs;
    if (outcome.type === "committed") {
      this.#failures.noteSuccess(batch.inputs);
      this.#backoffMs = BACKOFF_MS_MIN;
      this.#rebuilds = 0;
      this.#ticks.noteCommit(run.state, startedMs);
      this.#report(outcome.records);
      this.#reportedSeq = run.state.progress.seq;
      metrics.count("commits");
      metrics.count("inputs", batch.inputs);
      metrics.count("decisions", batch.decisions);
      metrics.count("dead_letters", batch.deadLetters);
      metrics.count("forwarded_inputs", batch.forwarded);
      if (batch.inputs === 0) metrics.count("idle_records");
      metrics.observe("commit", this.#commitMs);
      this.#acceptance = null;
      await this.#savers.noteCommit(run.state);
      return;
    }
    this.#failures.noteFailure(first, batch.inputs, outcome.type === "failed" && outcome.oversize);
    this.#queue.reset(run.state.progress);
    metrics.count(outcome.type === "failed" ? "commit_failures" : "commits_unknown");
    if (outcome.type === "failed" && outcome.oversize) return;
    throw retryable(outcome.error, outcome.type);
  }

  /** When the journal needs a record without an input; a partition without records needs none. */
  #idleAtMs({ progress, journalTimeMs }: PartitionState): number {
    if (progress.seq === 0) return Number.POSITIVE_INFINITY;
    return journalTimeMs + this.#context.options.idleRecordAfterMs;
  }

  async #wait(state: PartitionState): Promise<void> {
    this.#rested = true;
    const { clock, log, options } = this.#context;
    const nowMs = clock.nowMs();
    const untilMs = Math.min(this.#idleAtMs(state), this.#ticks.nextMs(state));
    const waitMs = Math.min(untilMs - nowMs, this.#savers.saveIfDue(state) ?? options.waitMsMax);
    const timeoutMs = Math.min(Math.max(waitMs, 1), options.waitMsMax);
    await log.waitForNew(this.#queue.ends(), timeoutMs, this.#abort.signal);
  }

  #report(records: readonly CommittedRecord[]): void {
    const reportedSeq = this.#reportedSeq ?? 0;
    const fresh = records.filter(({ record }) => record.seq > reportedSeq);
    const last = fresh[fresh.length - 1];
    if (last === undefined) return;
    this.#reportedSeq = last.record.seq;
    this.#committed.tell(fresh);
  }

  async #recover(error: PipelineError): Promise<void> {
    const { partition, logger, clock } = this.#context;
    logger.error("a partition stopped", {
      ...error.context,
      partition,
      code: error.code,
      kind: error.kind,
      message: error.message,
    });
    if (error instanceof StateCorruptError && this.#rebuilds < REBUILDS_MAX) {
      this.#rebuilds += 1;
      this.#inMemory = null;
      this.#context.bounds?.release(partition);
      this.#distrustsStored = true;
      this.#become("suspended", "restoring", error);
    } else if (error.kind === "retry") {
      this.#become("suspended", "restoring", error);
    } else {
      this.#become("closed", error.kind === "fenced" ? "not_owner" : "failed", error);
      return;
    }
    await clock.sleep(this.#backoffMs, this.#abort.signal);
    this.#backoffMs = Math.min(this.#backoffMs * 2, BACKOFF_MS_MAX);
  }

  #become(state: TaskState, detail: TaskStatus["detail"], error: PipelineError | null): void {
    const before = this.#status;
    if (before.state === state && before.detail === detail && before.error === error) return;
    assertTransition(before.state, state);
    this.#status = { state, detail, error };
    this.#statuses.tell(this.#status);
  }

  #batchContext(engine: Engine): BatchContext {
    const keepsRecords = !this.#committed.isEmpty;
    return batchContextOf(this.#context, engine, { keepsRecords, acceptance: this.#acceptance });
  }
}
