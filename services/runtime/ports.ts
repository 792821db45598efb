/**
 * What the stream task needs from the outside. Adapters implement these for the embedded log, for
 * memory, and for a broker; one contract suite runs on all of them.
 */
import type { DecisionEvent } from "../core/events.ts";
import type { GateInput, ProposalInput } from "../core/inputs.ts";
import type { Anchored } from "./anchor.ts";
import type { InputPosition, JournalRecord, QuarantineCode } from "./journal.ts";
import type { DecisionTopic, InputTopic, PerInput, Topic } from "./topics.ts";

export type RecordHeader = { readonly name: string; readonly value: string };

/** A record as the log holds it. */
export type LogRecord = {
  readonly offset: number;
  /** Assigned by the log when it was appended; never falls within a topic-partition. */
  readonly appendTimeMs: number;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: readonly RecordHeader[];
};

export type OutgoingRecord = {
  readonly topic: Topic;
  readonly partition: number;
  readonly key: string | Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers?: readonly RecordHeader[];
};

/** Where an appended record went. */
export type Appended = { readonly offset: number; readonly appendTimeMs: number };

export type ReadLimits = { readonly recordsMax: number; readonly bytesMax: number };

export type ReadResult = {
  readonly records: readonly LogRecord[];
  /** Where to read on: after the last record, and after anything that is not a record. */
  readonly nextOffset: number;
  /** The log's end as of this read. */
  readonly endOffset: number;
};

/** A place to wait at: until something is readable from `offset` on. */
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
  /** Names this log for ever: a checkpoint of another log must not be taken for ours. */
  readonly clusterId: string;
  /** Names this life of the topic: another after it was deleted and made again. */
  topicId(topic: Topic): string;
  /**
   * Appends for writers outside the gate. All records are durable when it resolves, each after the
   * one before it in its topic-partition; together or not at all.
   */
  append(records: readonly OutgoingRecord[]): Promise<readonly Appended[]>;
  /**
   * At most `limits` of committed records from `fromOffset` on; at least one if there is one, however
   * large. Empty at the end of the log.
   * @throws FatalError `input_out_of_reach` where `fromOffset` lies before the log's start.
   */
  read(
    topic: Topic,
    partition: number,
    fromOffset: number,
    limits: ReadLimits,
  ): Promise<ReadResult>;
  /** The offset that the next record will get at least. Stable below it once a writer has fenced. */
  endOffset(topic: Topic, partition: number): Promise<number>;
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
  /** Offsets to read next. A hint for others: the journal says where the gate goes on. */
  readonly consumed: PerInput;
};

export type CommitOutcome =
  | { readonly type: "committed"; readonly appended: readonly Appended[] }
  /** Nothing became visible and nothing will. `oversize`: it never can as it is. */
  | { readonly type: "failed"; readonly oversize: boolean; readonly error: Error }
  /** It may or may not have become visible: take the partition over again and read the journal. */
  | { readonly type: "unknown"; readonly error: Error };

/** The right to decide one partition, until somebody else takes it over. */
export interface PartitionWriter {
  readonly partition: number;
  /** Offsets that the log has recorded for the gate's group, possibly by a foreigner. */
  recordedOffsets(): Promise<PerInput>;
  /** @throws FencedError: another owner has taken over; nothing was written. */
  commit(batch: CommitBatch): Promise<CommitOutcome>;
  close(): Promise<void>;
}

export interface Ownership {
  /**
   * Fences the previous owner: when it resolves, nothing of that owner will become visible any more,
   * and every end offset read from now on holds all it ever committed.
   */
  takeOver(partition: number): Promise<PartitionWriter>;
}

/** What a checkpoint says of itself. `count` and `digestSum` are kept by the store. */
export type CheckpointHeader = {
  readonly clusterId: string;
  readonly topicId: string;
  readonly schemaVersion: number;
  /** Offset in the journal after the last record the checkpoint holds. */
  readonly journalOffset: number;
  /** Append time of that record. */
  readonly journalTimeMs: number;
  readonly seq: number;
  readonly chainHead: string;
  readonly next: PerInput;
  readonly clocks: PerInput;
  /** Largest gate time up to that record. */
  readonly latestMs: number;
  /** What the journal rests on there. */
  readonly anchor: Anchored | null;
};

/** The state of one conversation. `digest` covers the rest of the blob. */
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

/** How a save makes room for decisions between its steps. */
export interface CheckpointPace {
  /** Somebody waits for the save to end: larger steps, no rests. */
  readonly inHaste: boolean;
  /** After a step that held up decisions for `workedMs`. Resolves when the next may be made. */
  rest(workedMs: number): Promise<void>;
}

/** What changed since the checkpoint before. `replace`: forget everything the store has. */
export type CheckpointUpdate = {
  readonly header: CheckpointHeader;
  readonly replace: boolean;
  /** Made as they are asked for: together they may be larger than memory should hold twice. */
  readonly upserts: Iterable<CheckpointBlob>;
  readonly removals: readonly string[];
  /** Absent: as fast as it goes. */
  readonly pace?: CheckpointPace;
};

export type LoadedCheckpoint = {
  /** Names what the store holds now, whatever its worth; null where it holds nothing. */
  readonly mark: string | null;
  /** Absent where there is none, or where it cannot be read as one. */
  readonly checkpoint: Checkpoint | null;
  /** Why what the store holds cannot be read. */
  readonly problem: string | null;
};

/** `header`: null where what the store holds is no checkpoint. */
export type SeenCheckpoint = {
  readonly mark: string | null;
  readonly header: CheckpointHeader | null;
};

export type CheckpointSaved = {
  /** `stale`: the store holds something else than the caller thought; nothing was changed. */
  readonly type: "saved" | "stale";
  /** What the store holds after the call. */
  readonly mark: string | null;
};

/**
 * A cache of the journal: it may be empty, stale, foreign or gone, and nothing but speed is lost.
 * It never goes back, because a save names by `mark` what it replaces or builds on.
 *
 * @throws RetryableError `checkpoint_unavailable`: the task goes on without.
 */
export interface CheckpointStore {
  /** As a whole or not at all. What it holds is checked by the caller, not trusted. */
  load(partition: number): Promise<LoadedCheckpoint>;
  /** What `load` would give, without the conversations. Absent: nobody else writes to the store. */
  look?(partition: number): Promise<SeenCheckpoint>;
  /**
   * May be done in steps between which the gate goes on: the header changes in the last one. Ended in
   * between, the store holds the earlier header with newer blobs, which a replay copes with, or
   * something that `load` gives no checkpoint of.
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
 * Says who vouches for a proposal, where whoever writes proposals is not trusted. An ingest step: what it
 * gives is journaled, so that a replay asks nobody.
 */
export interface ProposalAuthority {
  /**
   * What must be waited for before the record can be vouched for; null: nothing. Never rejects. Asking
   * again for the same record is cheap.
   */
  pending(record: LogRecord): Promise<void> | null;
  /** The proposal as the record's token has it, or rejected as `unauthenticated`; `nowMs`: gate time. */
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

/** Bytes to types and back. Holds the secret: an idempotency key is made while encoding `allowed`. */
export interface Codec {
  /**
   * What must be waited for before a value can be decoded: a schema that is not known here yet. Null:
   * nothing; absent: never anything. Asking again for the same value is cheap.
   * @throws RetryableError `schema_unavailable`, when awaited: nothing is known of the value now.
   */
  pending?(value: Uint8Array | null): Promise<void> | null;
  /**
   * Total: bytes that cannot be decoded are an answer, not an exception.
   * @throws RetryableError where `pending` was not waited for; so do all that decode.
   */
  decodeInput(topic: InputTopic, value: Uint8Array | null): DecodedInput;
  encodeJournal(record: JournalRecord): Uint8Array;
  /** @throws StateCorruptError where the bytes are no journal record. */
  decodeJournal(value: Uint8Array): JournalRecord;
  /** The record of `allowed`, `refused` or `held` that a decision becomes. */
  encodeDecision(event: DecisionEvent, at: InputPosition): EncodedDecision;
  encodeDeadLetter(letter: DeadLetter): Uint8Array;
  /** The value of a verdict of kind tick. */
  encodeTick(): Uint8Array;
}

/** The wall clock decides when to do something, never what is decided. */
export interface Clock {
  nowMs(): number;
  /** Resolves after the time, or at once when the signal aborts; never rejects. */
  sleep(timeMs: number, signal?: AbortSignal): Promise<void>;
}

export type LogFields = Readonly<Record<string, string | number | boolean>>;

/** Messages are one lower-case sentence; fields hold positions, counts and codes, never payloads. */
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
  | "ticks"
  | "idle_records"
  | "checkpoints"
  | "checkpoints_ignored"
  | "internal_errors"
  | "late_drops";

export type TimingName = "commit" | "restore" | "checkpoint";
