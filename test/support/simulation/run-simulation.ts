import { createHash } from "node:crypto";
import { emptyLedger } from "../../../services/collections/ledger.ts";
import { ConversationBounds } from "../../../services/runtime/conversation-bounds.ts";
import { coreFold } from "../../../services/runtime/core-engine.ts";
import { NOTHING_AHEAD } from "../../../services/runtime/decided-ahead.ts";
import type { Engine } from "../../../services/runtime/engine.ts";
import type { CommittedRecord } from "../../../services/runtime/journal.ts";
import type { Checkpoint, Logger, Metrics } from "../../../services/runtime/ports.ts";
import { Preparation } from "../../../services/runtime/prepare.ts";
import type { ReadContext, Start } from "../../../services/runtime/restore-context.ts";
import { StreamTask } from "../../../services/runtime/task.ts";
import type { TaskOptions } from "../../../services/runtime/task-context.ts";
import { INPUT_TOPICS, TOPICS } from "../../../services/runtime/topics.ts";
import { checkForwarded } from "./check-forwarded.ts";
import { checkTopics, type TopicReader } from "./check-topics.ts";
import { HOLD_MS, TIME_LIMIT_MS } from "./engines.ts";
import { CLUSTER_ID, FakeWorld } from "./fake-outside.ts";
import { type FaultRates, NO_FAULTS, type OutsideFault, SOME_FAULTS } from "./faults.ts";
import { checkedJson, jsonCodec } from "./json-codec.ts";
import { Random } from "./random.ts";
import { Scheduler, type SimulatedProcess } from "./scheduler.ts";
import { Workload } from "./workload.ts";

export type SimulationOptions = {
  readonly seed: number;
  readonly engines: readonly [Engine, Engine];
  /** A function that the outside lacks; absent: everything works. */
  readonly off?: OutsideFault;
};

export type SimulationRun = {
  /** Problems that the topics show; empty where there are none. */
  readonly problems: readonly string[];
  /** Errors in what listeners in the gate's processes received. */
  readonly misreported: readonly string[];
  /** SHA-256 of all topics: the same seed gives the same digest. */
  readonly digest: string;
  readonly struck: ReadonlySet<string>;
  readonly happened: ReadonlyMap<string, number>;
  readonly journalRecords: number;
  readonly processes: number;
  readonly codes: ReadonlySet<string>;
};

type LastRecord = { readonly next: Readonly<Record<string, number>> };
type Running = { readonly process: SimulatedProcess; readonly task: StreamTask };

const PARTITION = 0;
const PARTITIONS = 2;
const FAULTY_STEPS_MAX = 6_000;
const HEALED_STEPS_MAX = 6_000;
const PROCESSES_MAX = 3;
/** Time until every deadline has passed and a tick for it has been decided. */
const CALM_MS = HOLD_MS + TIME_LIMIT_MS + 30_000;
const EVERYTHING = { recordsMax: 1_000_000, bytesMax: Number.MAX_SAFE_INTEGER };

const noMetrics: Metrics = { count: () => undefined, observe: () => undefined };

/** One seed is one run: a phase with faults, then one without in which everything must end. */
export class Simulation {
  readonly #options: SimulationOptions;
  readonly #random: Random;
  readonly #scheduler: Scheduler;
  readonly #world: FakeWorld;
  readonly #workload: Workload;
  readonly #running: Running[] = [];
  readonly #problems: string[] = [];
  readonly #misreported: string[] = [];
  readonly #codes = new Set<string>();
  readonly #taskOptions: TaskOptions;
  #started = 0;
  /** Asked for at every step, and decoded once: the journal only grows. */
  #last: { readonly end: number; readonly record: LastRecord | undefined } = {
    end: 0,
    record: undefined,
  };

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#scheduler = new Scheduler(this.#random);
    const faults: FaultRates = options.seed % 10 === 0 ? NO_FAULTS : SOME_FAULTS;
    this.#world = new FakeWorld({
      scheduler: this.#scheduler,
      partitions: PARTITIONS,
      partition: PARTITION,
      faults,
      foreign: () => this.#foreignCheckpoint(),
      skewMs: this.#random.pick([0, 0, 40, 5_000]),
    });
    this.#world.fencing = options.off !== "fencing";
    this.#workload = new Workload(this.#world, PARTITION, this.#random.integer(1, 5));
    this.#taskOptions = {
      batch: { inputsMax: this.#random.integer(1, 8), bytesMax: 30_000 },
      readBytesMax: 60_000,
      lingerMs: this.#random.pick([0, 0, 5]),
      hashEvery: this.#random.pick([1, 3, 7]),
      checkpointEvery: this.#random.pick([1, 4, 20]),
      idleRecordAfterMs: 25_000,
      journalSpanMs: 3_600_000,
      offsetsGraceMs: 3_000,
      eventSource: null,
      waitMsMax: 5_000,
    };
  }

  async run(): Promise<SimulationRun> {
    await this.#faulty(this.#random.integer(20, 60));
    await this.#healed();
    const read = this.reader();
    this.#problems.push(
      ...checkTopics(read, (revision) => this.#trueEngine(revision), checkedJson),
      ...checkForwarded(
        read("decisions"),
        checkedJson,
        (topic, partition) => this.#world.topics.read(topic, partition, 0, EVERYTHING).records,
      ),
    );
    const digest = createHash("sha256");
    for (const topic of TOPICS) for (const { value } of read(topic)) digest.update(value ?? "-");
    return {
      problems: this.#problems,
      misreported: this.#misreported,
      digest: digest.digest("hex"),
      struck: this.#world.struck,
      happened: this.#world.happened,
      journalRecords: this.#world.topics.endOffset("decisions", PARTITION),
      processes: this.#started,
      codes: this.#codes,
    };
  }

  /** The topics as a reader sees them. */
  reader(): TopicReader {
    return (topic) => this.#world.topics.read(topic, PARTITION, 0, EVERYTHING).records;
  }

  async #faulty(inputs: number): Promise<void> {
    let left = inputs;
    for (let step = 0; step < FAULTY_STEPS_MAX && left > 0; step += 1) {
      await this.#scheduler.settle();
      this.#reap();
      if (this.#running.length === 0 && this.#random.chance(0.5)) this.#startProcess();
      this.#strike();
      if (this.#random.chance(0.15)) {
        left -= 1;
        this.#workload.act();
        if (this.#random.chance(0.3)) this.#scheduler.nowMs += this.#random.integer(1, 4_000);
      }
      this.#scheduler.step();
    }
  }

  async #healed(): Promise<void> {
    this.#world.faults = NO_FAULTS;
    for (const { process, task } of this.#running) {
      process.pausedSteps = 0;
      task.setEngine(this.#engine(0));
    }
    this.#resetOffsets();
    let calmSinceMs = this.#scheduler.nowMs;
    for (let step = 0; step < HEALED_STEPS_MAX; step += 1) {
      await this.#scheduler.settle();
      this.#reap();
      if (this.#running.length === 0) this.#startProcess();
      if (!this.#isEverythingDecided()) calmSinceMs = this.#scheduler.nowMs;
      if (this.#scheduler.nowMs - calmSinceMs > CALM_MS && this.#isEverythingDecided()) {
        await this.#close();
        return;
      }
      this.#scheduler.step();
    }
    const states = this.#running.map(({ task }) => JSON.stringify(task.status)).join(" ");
    this.#problems.push(`it did not end after the faults: ${states}`);
  }

  async #close(): Promise<void> {
    const closing = this.#running.map(({ task }) => task.close());
    for (let step = 0; step < 500 && closing.length > 0; step += 1) {
      await this.#scheduler.settle();
      if (this.#running.every(({ task }) => task.status.state === "closed")) return;
      this.#scheduler.step();
    }
    this.#problems.push("a task did not close");
  }

  /** Causes faults that concern no single call. */
  #strike(): void {
    for (const { process } of this.#running) {
      if (process.pausedSteps > 0) process.pausedSteps -= 1;
      else if (this.#world.roll("pause")) process.pausedSteps = this.#random.integer(5, 80);
    }
    if (this.#running.length < PROCESSES_MAX && this.#world.roll("secondOwner")) {
      this.#startProcess();
    }
    if (this.#world.roll("foreignOffsets")) this.#foreignCommit();
    if (this.#world.roll("policySwap")) {
      const index = this.#random.pick([0, 1, null] as const);
      const engine = index === null ? null : this.#engine(index);
      for (const { task } of this.#running) task.setEngine(engine);
    }
  }

  #startProcess(): void {
    this.#started += 1;
    const process = { name: `process ${this.#started}`, alive: true, pausedSteps: 0 };
    const outside = this.#world.connect(process);
    const context = {
      partition: PARTITION,
      ...outside,
      codec: jsonCodec,
      fold: coreFold,
      logger: this.#logger(),
      metrics: noMetrics,
      options: this.#taskOptions,
      bounds: this.#newBounds(),
    };
    const reads = this.#random.pick([null, null, 0, 1, 4]);
    const { journalSpanMs: spanMs } = this.#taskOptions;
    const prepared = reads === null ? null : this.#prepared({ ...context, spanMs }, reads);
    const task = new StreamTask(
      { ...context, ...(prepared === null ? {} : { prepared: () => prepared }) },
      this.#engine(0),
    );
    this.#watch(process.name, task);
    this.#running.push({ process, task });
    task.start();
  }

  /** In every third run some conversations find no room. */
  #newBounds(): ConversationBounds {
    const limits = this.#options.seed % 3 === 0 ? { conversations: 2 } : {};
    const clock = { nowMs: () => this.#scheduler.nowMs, sleep: async () => undefined };
    return new ConversationBounds({ limits, clock, stateBytes: null });
  }

  /** Prepares a state in a process before it takes over, while others decide. */
  async #prepared(context: ReadContext, reads: number): Promise<Start | null> {
    try {
      const preparation = await Preparation.begin(context);
      for (let read = 0; read < reads && (await preparation.readOn()); ) read += 1;
      return preparation.start;
    } catch {
      return null;
    }
  }

  /** Checks that a listener receives every record once and in order. */
  #watch(name: string, task: StreamTask): void {
    let lastSeq: number | null = null;
    task.onCommitted((records: readonly CommittedRecord[]) => {
      for (const { record } of records) {
        if (lastSeq !== null && record.seq !== lastSeq + 1) {
          this.#misreported.push(`${name} received ${record.seq} after ${lastSeq}`);
        }
        lastSeq = record.seq;
      }
    });
  }

  #reap(): void {
    for (let at = this.#running.length - 1; at >= 0; at -= 1) {
      const running = this.#running[at];
      if (running === undefined) continue;
      if (running.process.alive && running.task.status.state !== "closed") continue;
      if (running.task.status.error !== null) this.#codes.add(running.task.status.error.code);
      this.#scheduler.kill(running.process);
      this.#running.splice(at, 1);
    }
  }

  #isEverythingDecided(): boolean {
    const last = this.#lastRecord();
    return INPUT_TOPICS.every(
      (topic) => this.#world.topics.endOffset(topic, PARTITION) === (last?.next[topic] ?? 0),
    );
  }

  #lastRecord(): LastRecord | undefined {
    const end = this.#world.topics.endOffset("decisions", PARTITION);
    if (this.#last.end !== end) this.#last = { end, record: this.#recordBefore(end) };
    return this.#last.record;
  }

  #recordBefore(end: number): LastRecord | undefined {
    const { records } = this.#world.topics.read("decisions", PARTITION, end - 1, EVERYTHING);
    const value = records[0]?.value;
    return value === null || value === undefined ? undefined : jsonCodec.decodeJournal(value);
  }

  #foreignCommit(): void {
    const next = Object.fromEntries(
      INPUT_TOPICS.map((topic) => [topic, this.#world.topics.endOffset(topic, PARTITION)]),
    ) as Record<(typeof INPUT_TOPICS)[number], number>;
    this.#world.topics.recordOffsets(PARTITION, next);
  }

  /** What an operator does after the error: sets the recorded offsets to those of the journal. */
  #resetOffsets(): void {
    const next = this.#lastRecord()?.next ?? {};
    this.#world.topics.recordOffsets(PARTITION, {
      proposals: next["proposals"] ?? 0,
      results: next["results"] ?? 0,
      verdicts: next["verdicts"] ?? 0,
    });
  }

  /**
   * A well-formed checkpoint of a history that never was: it has no conversations and claims to
   * have read everything.
   */
  #foreignCheckpoint(): Checkpoint | null {
    const end = this.#world.topics.endOffset("decisions", PARTITION);
    const last = this.#lastRecord();
    if (end === 0 || last === undefined) return null;
    const isOtherLog = this.#random.chance(0.5);
    const next = { proposals: 0, results: 0, verdicts: 0, ...last.next };
    return {
      header: {
        clusterId: isOtherLog ? "another" : CLUSTER_ID,
        topicId: `${CLUSTER_ID}/decisions`,
        schemaVersion: 1,
        journalOffset: end,
        journalTimeMs: this.#scheduler.nowMs,
        seq: end + this.#random.integer(-1, 1),
        chainHead: "ab".repeat(32),
        next,
        ahead: NOTHING_AHEAD,
        clocks: { proposals: 1, results: 1, verdicts: 1 },
        latestMs: 1,
        anchor: null,
      },
      count: 0,
      digestSum: "0".repeat(64),
      blobs: [],
    };
  }

  #engine(index: 0 | 1): Engine {
    const engine = this.#options.engines[index];
    if (this.#options.off !== "redelivery") return engine;
    // Forgets the names of calls, so that the engine judges a repeated proposal as a new one.
    return {
      ...engine,
      decide: (state, input, nowMs) => {
        const forgetful =
          state === undefined
            ? undefined
            : { ...state, retained: emptyLedger(), loose: emptyLedger() };
        return engine.decide(forgetful as typeof state, input, nowMs);
      },
    };
  }

  #trueEngine(revision: string): Engine {
    const engine = this.#options.engines.find((one) => one.policyRevision === revision);
    if (engine === undefined) throw new Error(`no policy ${revision}`);
    return engine;
  }

  #logger(): Logger {
    const ignore = (): void => undefined;
    return {
      debug: ignore,
      info: ignore,
      warn: ignore,
      error: (_message, fields) => {
        if (typeof fields?.["code"] === "string") this.#codes.add(fields["code"]);
      },
    };
  }
}
