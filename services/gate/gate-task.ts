/** The gate: the stream task of each partition under one compiled policy. */
import type { CompiledPolicy } from "../core/policy/compiled.ts";
import { coreFold, createCoreEngine } from "../runtime/core-engine.ts";
import type { Engine } from "../runtime/engine.ts";
import type { CommittedRecord } from "../runtime/journal.ts";
import type {
  CheckpointStore,
  Clock,
  Codec,
  Log,
  Logger,
  Metrics,
  Ownership,
} from "../runtime/ports.ts";
import { journalKeepMsMin } from "../runtime/retention.ts";
import { ALL_SAFEGUARDS } from "../runtime/safeguards.ts";
import { StreamTask } from "../runtime/task.ts";
import { defaultTaskOptions, type TaskStatus } from "../runtime/task-context.ts";

/** What the core's `decide` is under a policy; tests and benches may put another in its place. */
export type Decide = Engine["decide"];

export type GateParts = {
  readonly log: Log;
  readonly ownership: Ownership;
  readonly checkpoints: CheckpointStore | null;
  readonly codec: Codec;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly policy: CompiledPolicy;
  /** How long the journal is kept at least; raised to what the policy needs. */
  readonly keepMs: number;
  /** Decides instead of the policy. Only a bench may: nothing is checked then. */
  readonly decideUnchecked: Decide | null;
};

export type CommittedListener = (records: readonly CommittedRecord[], partition: number) => void;
export type StatusListener = (status: TaskStatus, partition: number) => void;

export interface Gate {
  /** How long the journal must be kept, ms. */
  readonly keepMs: number;
  /** Of the partition that is worst off. */
  status(): TaskStatus;
  /** Records in journal order within a partition, once each, after they are durable. */
  onCommitted(listener: CommittedListener): () => void;
  onStatus(listener: StatusListener): () => void;
  /** Decides under this policy from the next record on. */
  setPolicy(policy: CompiledPolicy): void;
  start(): void;
  /** Finishes the batches in flight and writes checkpoints. */
  close(): Promise<void>;
}

/** Proposals in, decisions out, on every partition of the log. Nothing runs before `start`. */
export function createGate(parts: GateParts): Gate {
  const { maxAgeMs } = parts.policy.conversation;
  const lifetimes = { maxAgeMs, longestHoldMs: parts.policy.longestHoldMs };
  const keepMs = Math.max(parts.keepMs, journalKeepMsMin(lifetimes));
  const journalSpanMs = maxAgeMs + lifetimes.longestHoldMs;
  const options = defaultTaskOptions({ keepMs, journalSpanMs });
  let current = engineOf(parts.policy, parts.decideUnchecked);
  // A record is judged and journaled without a pause, so a switch falls between two of them.
  const engine: Engine = {
    ...coreFold,
    get policyRevision() {
      return current.policyRevision;
    },
    decide: (state, input, nowMs) => current.decide(state, input, nowMs),
  };
  const tasks = Array.from({ length: parts.log.partitions }, (_, partition) => {
    const { log, ownership, checkpoints, codec, clock, logger, metrics } = parts;
    const ports = { log, ownership, checkpoints, codec, clock, logger, metrics };
    const context = { partition, ...ports, fold: coreFold, options, safeguards: ALL_SAFEGUARDS };
    return new StreamTask(context, engine);
  });
  return {
    keepMs,
    status: () => worst(tasks.map((task) => task.status)),
    onCommitted: (listener) =>
      all(tasks.map((task, at) => task.onCommitted((records) => listener(records, at)))),
    onStatus: (listener) =>
      all(tasks.map((task, at) => task.onStatus((status) => listener(status, at)))),
    setPolicy: (policy) => {
      current = engineOf(policy, parts.decideUnchecked);
    },
    start: () => {
      for (const task of tasks) task.start();
    },
    close: async () => {
      await Promise.all(tasks.map((task) => task.close()));
    },
  };
}

function engineOf(policy: CompiledPolicy, decideUnchecked: Decide | null): Engine {
  const engine = createCoreEngine(policy);
  return decideUnchecked === null ? engine : { ...engine, decide: decideUnchecked };
}

const ORDER: readonly TaskStatus["state"][] = ["running", "restoring", "suspended", "closed"];
const NO_TASKS: TaskStatus = { state: "closed", detail: "closed", error: null };

function worst(statuses: readonly TaskStatus[]): TaskStatus {
  const byState = [...statuses].sort((a, b) => ORDER.indexOf(b.state) - ORDER.indexOf(a.state));
  return byState[0] ?? NO_TASKS;
}

function all(stops: readonly (() => void)[]): () => void {
  return () => {
    for (const stop of stops) stop();
  };
}
