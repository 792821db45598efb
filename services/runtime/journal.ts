/**
 * The journal record: what the gate consumed, what came of it, and where it goes on reading.
 *
 * JOURNAL-1 `seq` starts at 1 and has no gap; `prevHash` is `chainHash` of the record before it: over that
 *    record's own `prevHash` and its value bytes; `GENESIS_HASH` for the first.
 * JOURNAL-2 every consumed input gives exactly one record; events may be empty.
 * JOURNAL-3 `next` of the last record is where reading goes on; nothing else is asked for positions.
 * JOURNAL-4 no record holds an idempotency key.
 * JOURNAL-5 whoever reads from any record on comes by an `anchor` before what it names is cut off: the first
 *    record has one, and it is repeated long before retention takes it.
 */
import type { GateEvent } from "../core/events.ts";
import type { GateInput } from "../core/inputs.ts";
import type { InputTopic, PerInput } from "./topics.ts";

export const GENESIS_HASH = "0".repeat(64);

/** Every n-th record carries the hash of the state after it. */
export const STATE_HASH_EVERY = 1_000;

export type JournalRecord = {
  readonly seq: number;
  readonly prevHash: string;
  readonly input: JournalInput;
  /** Offset to read next, by input topic. */
  readonly next: PerInput;
  /** Gate time in ms after this record, by input topic: the largest append time seen so far. */
  readonly clocks: PerInput;
  /**
   * Largest gate time of any record before this one, in ms; 0 for the first. Where the log's start
   * has moved, it bounds the age of everything that can no longer be read.
   */
  readonly previousAtMs: number;
  /** Revision of the deciding policy, `sha256:…`. */
  readonly policyRevision: string;
  readonly events: readonly GateEvent[];
  /** Hash of the state after this record (see state-hash.ts), hex, on every `STATE_HASH_EVERY`-th; else null. */
  readonly stateHash: string | null;
  /** Null on most records. */
  readonly anchor: JournalAnchor | null;
};

/** What the journal depends on from this record on. */
export type JournalAnchor = {
  /** The current secret first, then the earlier ones that calls may still need. */
  readonly secrets: readonly SecretMark[];
  /**
   * Key ids of lost secrets, where a person accepted the loss. What they would have made is made
   * with others.
   */
  readonly lostKeyIds: readonly string[];
  /** The loss that was accepted just before this record; null: none was. */
  readonly accepted: AcceptedLoss | null;
};

/** Identifies a secret without disclosing anything of it. */
export type SecretMark = {
  readonly keyId: string;
  /** HMAC under the secret, 64 hex digits. */
  readonly fingerprint: string;
  /** Gate time at which another secret replaced this one; null: it is the current one. */
  readonly supersededAtMs: number | null;
};

/** A loss of state that a person accepted. */
export type AcceptedLoss = {
  readonly by: string;
  readonly reason: string | null;
  /** Time in ms by the clock of the machine on which the loss was accepted. */
  readonly atMs: number;
  /** One sentence for each loss. */
  readonly losses: readonly string[];
};

export type InputPosition = {
  readonly topic: InputTopic;
  readonly partition: number;
  readonly offset: number;
  /** As the log assigned it; not yet made monotone. */
  readonly appendTimeMs: number;
};

export type JournalInput = DecidedInput | ForwardedInput | QuarantinedInput | IdleInput;

/** The input as it was decided, so that a journal can be decided again under another policy. */
export type DecidedInput = {
  readonly type: "decided";
  readonly at: InputPosition;
  readonly input: GateInput;
};

/** The input went to the dead letters; the record has no events. */
export type QuarantinedInput = {
  readonly type: "quarantined";
  readonly at: InputPosition;
  readonly code: QuarantineCode;
};

/**
 * An input that came on another partition than that of its conversation. The same commit appended it
 * to the right partition, which decides it.
 */
export type ForwardedInput = {
  readonly type: "forwarded";
  readonly at: InputPosition;
  /** The partition it went to. */
  readonly partition: number;
};

export const QUARANTINE_CODES = [
  "undecodable",
  "unreadable",
  "misrouted",
  "too_large",
  "internal_error",
] as const;

export type QuarantineCode = (typeof QUARANTINE_CODES)[number];

/**
 * No input: such a record is written so that retention never leaves a partition without a journal
 * record.
 */
export type IdleInput = { readonly type: "idle" };

/** A journal record with its position in the log. */
export type CommittedRecord = {
  readonly offset: number;
  readonly appendTimeMs: number;
  readonly record: JournalRecord;
};
