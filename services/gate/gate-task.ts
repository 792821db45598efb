/** The gate: the stream task of each partition under one compiled policy. */
import type { CompiledPolicy } from "../core/policy/compiled.ts";
import type { KnownSecrets } from "../runtime/anchor.ts";
import { coreFold } from "../runtime/core-engine.ts";
import type { CommittedRecord } from "../runtime/journal.ts";
import type { HeadStore } from "../runtime/journal-head.ts";
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
import { StreamTask } from "../runtime/task.ts";
import type { TaskStatus } from "../runtime/task-context.ts";
import { createSwitchableEngine, journalKeepMs, taskOptionsFor } from "./gate-engine.ts";

export type GateParts = {
  readonly log: Log;
  readonly ownership: Ownership;
  readonly checkpoints: CheckpointStore | null;
  /** Absent or null: nobody knows how far the journal had come. */
  readonly heads?: HeadStore | null;
  /** Absent or null: the journal does not say which secrets it was written with. */
  readonly secrets?: KnownSecrets | null;
  readonly codec: Codec;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly policy: CompiledPolicy;
  /** How long the journal is kept at least; raised to what the policy needs. */
  readonly keepMs: number;
  /** Absent: whoever writes proposals is trusted. */
  readonly authority?: ProposalAuthority | undefined;
};

export type CommittedListener = (records: readonly CommittedRecord[], partition: number) => void;
export type StatusListener = (status: TaskStatus, partition: number) => void;

export interface Gate {
  /** How long the journal must be kept, ms. */
  readonly keepMs: number;
  /** Of the partition that is worst off. */
  status(): TaskStatus;
  /** Records in journal order within a partition, once each, after they are durable; from its next batch on. */
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
  const keepMs = Math.max(parts.keepMs, journalKeepMs(parts.policy));
  // Its log has no leader that may not know all of it yet.
  const options = { ...taskOptionsFor(parts.policy, keepMs), offsetsGraceMs: 0 };
  const { engine, setPolicy } = createSwitchableEngine(parts.policy);
  const tasks = Array.from({ length: parts.log.partitions }, (_, partition) => {
    const { log, ownership, checkpoints, codec, authority, clock, logger, metrics } = parts;
    const { heads = null, secrets = null } = parts;
    const ports = {
      log,
      ownership,
      checkpoints,
      heads,
      secrets,
      codec,
      authority,
      clock,
      logger,
      metrics,
    };
    const context = { partition, ...ports, fold: coreFold, options };
    return new StreamTask(context, engine);
  });
  return {
    keepMs,
    setPolicy,
    status: () => worst(tasks),
    onCommitted: (listener) =>
      all(tasks.map((task, at) => task.onCommitted((records) => listener(records, at)))),
    onStatus: (listener) =>
      all(tasks.map((task, at) => task.onStatus((status) => listener(status, at)))),
    start: () => {
      for (const task of tasks) task.start();
    },
    close: async () => {
      await Promise.all(tasks.map((task) => task.close()));
    },
  };
}

const ORDER: readonly TaskStatus["state"][] = ["running", "restoring", "suspended", "closed"];
const NO_TASKS: TaskStatus = { state: "closed", detail: "closed", error: null };

/** Asked for with every call that is proposed. */
function worst(tasks: readonly StreamTask[]): TaskStatus {
  let found: TaskStatus | undefined;
  for (const { status } of tasks) {
    const isWorse = found === undefined || ORDER.indexOf(status.state) > ORDER.indexOf(found.state);
    if (isWorse) found = status;
  }
  return found ?? NO_TASKS;
}

function all(stops: readonly (() => void)[]): () => void {
  return () => {
    for (const stop of stops) stop();
  };
}
