/**
 * What the stream task needs from the outside. Adapters implement these ports for the embedded log,
 * for memory, and for a broker; one contract suite runs on all of them.
 */
import type { DecisionEvent } from "../core/events.ts";
import type { GateInput, ProposalInput } from "../core/inputs.ts";
import type { Anchored } from "./anchor.ts";
import type { DecidedAhead } from "./decided-ahead.ts";
import type { InputPosition, JournalRecord, QuarantineCode } from "./journal.ts";
import type { DecisionTopic, InputTopic, PerInput, Topic } from "./topics.ts";

export type RecordHeader = { readonly name: string; readonly value: string };

/** A record as the log stores it. */
export type LogRecord = {
  readonly offset: number;
  /** Assigned by the log when it was appended; never falls within a topic-partition. */
  readonly appendTimeMs: number;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: readonly RecordHeader[];
  /** Why key, value and headers could not be read; absent: they could. Only records of input topics have it. */
  readonly unreadable?: string;
};

export type OutgoingRecord = {
  readonly topic: Topic;
  readonly partition: number;
  readonly key: string | Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers?: readonly RecordHeader[];
};

/** Position and time of an appended record. */
export type Appended = { readonly offset: number; readonly appendTimeMs: number };

export type ReadLimits = { readonly recordsMax: number; readonly bytesMax: number };

export type ReadResult = {
  readonly records: readonly LogRecord[];
  /**
   * The offset to read next: after the last record, and after anything in the log that is not a
   * record.
   */
  readonly nextOffset: number;
  /** The log's end as of this read. */
  readonly endOffset: number;
};

/** A position to wait at until something is readable from `offset` on. */
export type WaitPosition = {
  readonly topic: Topic;
  readonly partition: number;
  readonly offset: number;
};

/**
 * A partitioned log. Readers see committed records only, and no reader needs a group.
 *
 * @throws RetryableError where the log cannot be reached now; FatalError where it never can.
 */
export interface Log {
  readonly partitions: number;
  /** Identifies this log for ever: a checkpoint of another log must not be used with this one. */
  readonly clusterId: string;
  /**
   * Identifies this instance of the topic: a topic that was deleted and created again has another
   * id.
   */
  topicId(topic: Topic): string;
  /**
   * Appends for writers outside the gate. All records are durable when it resolves, each after the
   * one before it in its topic-partition; together or not at all.
   */
  append(records: readonly OutgoingRecord[]): Promise<readonly Appended[]>;
  /**
   * Committed records from `fromOffset` on, at most `limits`, but at least one if there is one,
   * however large. Empty at the end of the log.
   * @throws FatalError `input_out_of_reach` where `fromOffset` is before the log's start.
   */
  read(
    topic: Topic,
    partition: number,
    fromOffset: number,
    limits: ReadLimits,
  ): Promise<ReadResult>;
  /**
   * The lowest offset that the next record can get. What is below it no longer changes once a
   * writer has fenced.
   * @param scope `whole`: every record that was appended before the call is below the offset or was
   *   aborted, for which the call waits. Without it the end of an input topic may be before a
   *   transaction of somebody else.
   */
  endOffset(topic: Topic, partition: number, scope?: "whole"): Promise<number>;
  /** The first offset that can still be read. */
  startOffset(topic: Topic, partition: number): Promise<number>;
  /**
   * Resolves when something is readable at any of the positions (also when another process wrote
   * it), when the time is over, or when the signal aborts; never rejects for these.
   */
  waitForNew(
    positions: readonly WaitPosition[],
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<void>;
  close(): Promise<void>;
}

/** What one commit writes: all of it becomes visible, or nothing. */
export type CommitBatch = {
  readonly records: readonly OutgoingRecord[];
  /** Offsets to read next. A hint for others: the journal determines where the gate continues. */
  readonly consumed: PerInput;
};

export type CommitOutcome =
  | { readonly type: "committed"; readonly appended: readonly Appended[] }
  /**
   * Nothing became visible and nothing will. `oversize`: the batch is too large to ever be written
   * as it is.
   */
  | { readonly type: "failed"; readonly oversize: boolean; readonly error: Error }
  /**
   * The batch may or may not have become visible: take the partition over again and read the
   * journal.
   */
  | { readonly type: "unknown"; readonly error: Error };

/** The right to decide one partition, until another owner takes it over. */
export interface PartitionWriter {
  readonly partition: number;
  /**
   * Offsets that the log has recorded for the gate's group; a foreign client may have written them.
   */
  recordedOffsets(): Promise<PerInput>;
  /** @throws FencedError: another owner has taken over; nothing was written. */
  commit(batch: CommitBatch): Promise<CommitOutcome>;
  close(): Promise<void>;
}

export interface Ownership {
  /**
   * Fences the previous owner: when it resolves, nothing of that owner becomes visible any more,
   * and every end offset read from now on includes all that it ever committed.
   */
  takeOver(partition: number): Promise<PartitionWriter>;
}

/** What a checkpoint says of itself. The store itself records `count` and `digestSum`. */
export type CheckpointHeader = {
  readonly clusterId: string;
  readonly topicId: string;
  readonly schemaVersion: number;
  /** Offset in the journal after the last record in the checkpoint. */
  readonly journalOffset: number;
  /** Append time of that record, ms. */
  readonly journalTimeMs: number;
  readonly seq: number;
  readonly chainHead: string;
  readonly next: PerInput;
  readonly ahead: DecidedAhead;
  readonly clocks: PerInput;
  /** Largest gate time up to that record, ms. */
  readonly latestMs: number;
  /** What the journal depends on at that record. */
  readonly anchor: Anchored | null;
};

/** The state of one conversation. `digest` is over all other fields. */
export type CheckpointBlob = {
  readonly key: string;
  /** `seq` of the journal record with the conversation's last event. */
  readonly seq: number;
  /** See state-hash.ts. */
  readonly hash: string;
  readonly digest: string;
  readonly bytes: Uint8Array;
};

export type Checkpoint = {
  readonly header: CheckpointHeader;
  readonly count: number;
  /** Sum of the blobs' digests, hex. */
  readonly digestSum: string;
  readonly blobs: readonly CheckpointBlob[];
};

/** How a save leaves time for decisions between its steps. */
export interface CheckpointPace {
  /** True when somebody waits for the save to end: larger steps, no rests. */
  readonly inHaste: boolean;
  /**
   * To be called after a step that delayed decisions for `workedMs`. Resolves when the next step
   * may start.
   */
  rest(workedMs: number): Promise<void>;
}

/** What changed since the previous checkpoint. `replace`: the store must drop everything it has. */
export type CheckpointUpdate = {
  readonly header: CheckpointHeader;
  readonly replace: boolean;
  /** Made as they are asked for: together they may be too large to be in memory twice. */
  readonly upserts: Iterable<CheckpointBlob>;
  readonly removals: readonly string[];
  /** Absent: the save runs without rests. */
  readonly pace?: CheckpointPace;
};

export type LoadedCheckpoint = {
  /** Identifies what the store holds now, valid or not; null where it holds nothing. */
  readonly mark: string | null;
  /** Null where the store has no checkpoint, or where it cannot be parsed as one. */
  readonly checkpoint: Checkpoint | null;
  /** Why the store's content cannot be parsed. */
  readonly problem: string | null;
};

/** `header`: null where the store's content is no checkpoint. */
export type SeenCheckpoint = {
  readonly mark: string | null;
  readonly header: CheckpointHeader | null;
};

export type CheckpointSaved = {
  /** `stale`: the store holds something else than the caller expected; nothing was changed. */
  readonly type: "saved" | "stale";
  /** Identifies what the store holds after the call. */
  readonly mark: string | null;
};

/**
 * A cache of the journal: it may be empty, stale, foreign or gone, and only speed is lost. It never
 * goes back, because a save names by `mark` the content that it replaces or builds on.
 *
 * @throws RetryableError `checkpoint_unavailable`: the task continues without checkpoints.
 */
export interface CheckpointStore {
  /**
   * Loads the checkpoint as a whole or not at all. The caller checks the content and does not trust
   * it.
   */
  load(partition: number): Promise<LoadedCheckpoint>;
  /**
   * What `load` would return, without the conversations. Absent: nobody else writes to the store.
   */
  look?(partition: number): Promise<SeenCheckpoint>;
  /**
   * May work in steps between which the gate decides; the last step changes the header. If it is
   * interrupted, the store holds the earlier header with newer blobs, which a replay tolerates, or
   * content that `load` returns no checkpoint for.
   */
  save(
    partition: number,
    update: CheckpointUpdate,
    expectedMark: string | null,
  ): Promise<CheckpointSaved>;
}

export type DecodedInput =
  | { readonly ok: true; readonly input: GateInput }
  | { readonly ok: false; readonly message: string };

/**
 * Authenticates proposals where their writers are not trusted. It runs at ingest: its result is
 * journaled, so that a replay needs no keys.
 */
export interface ProposalAuthority {
  /**
   * Resolves when the record can be verified; null: it can be now. Never rejects. Asking again for
   * the same record is cheap.
   */
  pending(record: LogRecord): Promise<void> | null;
  /**
   * The proposal with the identity of the record's token, or rejected as `unauthenticated`. @param
   * nowMs gate time.
   */
  vouch(proposal: ProposalInput, record: LogRecord, nowMs: number): ProposalInput;
}

export type DeadLetter = {
  readonly at: InputPosition;
  readonly code: QuarantineCode;
  readonly message: string;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
};

export type EncodedDecision = {
  readonly topic: DecisionTopic;
  readonly value: Uint8Array;
};

/**
 * Converts bytes to types and back. It holds the secret, because encoding an `allowed` record makes
 * its idempotency key.
 */
export interface Codec {
  /**
   * Resolves when a value can be decoded: its schema may not be loaded yet. Null: it can be decoded
   * now; absent: every value can. Asking again for the same value is cheap.
   * @throws RetryableError `schema_unavailable`, when awaited: the schema cannot be had now.
   */
  pending?(value: Uint8Array | null): Promise<void> | null;
  /**
   * Total: for bytes that cannot be decoded it returns a problem and does not throw.
   * @throws RetryableError where `pending` was not awaited; so do all methods that decode.
   */
  decodeInput(topic: InputTopic, value: Uint8Array | null): DecodedInput;
  encodeJournal(record: JournalRecord): Uint8Array;
  /** @throws StateCorruptError where the bytes are no journal record. */
  decodeJournal(value: Uint8Array): JournalRecord;
  /** The record of the topic `allowed`, `refused` or `held` for a decision. */
  encodeDecision(event: DecisionEvent, at: InputPosition): EncodedDecision;
  encodeDeadLetter(letter: DeadLetter): Uint8Array;
  /** The value of a verdict of kind `tick`. */
  encodeTick(): Uint8Array;
}

/** The wall clock determines when to do something, never what is decided. */
export interface Clock {
  nowMs(): number;
  /** Resolves after the time, or at once when the signal aborts; never rejects. */
  sleep(timeMs: number, signal?: AbortSignal): Promise<void>;
}

export type LogFields = Readonly<Record<string, string | number | boolean>>;

/**
 * A message is one lower-case sentence; fields hold positions, counts and codes, never payloads.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export interface Metrics {
  count(name: MetricName, amount?: number): void;
  observe(name: TimingName, milliseconds: number): void;
}

export type MetricName =
  | "inputs"
  | "decisions"
  | "commits"
  | "commit_failures"
  | "commits_unknown"
  | "take_overs"
  | "dead_letters"
  | "forwarded_inputs"
  | "ticks"
  | "idle_records"
  | "checkpoints"
  | "checkpoints_ignored"
  | "state_saves"
  | "state_stores_ignored"
  | "internal_errors"
  | "overloaded_proposals"
  | "late_drops";

export type TimingName = "commit" | "restore" | "checkpoint" | "state_save";

/** What a gate must know of a topic before it runs. */
export type TopicFacts = {
  readonly topic: Topic;
  /** The topic's name on the servers. */
  readonly name: string;
  /** 0: there is no such topic. */
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly cleanupPolicy: string;
  /** -1: unlimited. */
  readonly retentionMs: number;
  /** -1: unlimited. */
  readonly retentionBytes: number;
  readonly minInsyncReplicas: number;
  /** `LogAppendTime` or `CreateTime`. */
  readonly timestampType: string;
  /** A codec, or `producer`: batches stay as their producers compressed them. */
  readonly compressionType: string;
  readonly messageBytesMax: number;
};

/** @throws RetryableError, FatalError as the ports in ports.ts do. */
export interface TopicInspector {
  /** One entry for each topic role, in the order of `TOPICS`. */
  describe(): Promise<readonly TopicFacts[]>;
}
