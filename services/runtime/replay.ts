/**
 * Rebuilds state from the journal by folding `evolve` over its events. Used to restore and to
 * verify.
 */
import type { GateEvent } from "../core/events.ts";
import { chainHash } from "../core/hash.ts";
import { anchoredBy } from "./anchor.ts";
import { type DecidedAhead, noteDecided } from "./decided-ahead.ts";
import { StateCorruptError } from "./errors.ts";
import type { JournalRecord } from "./journal.ts";
import type { PartitionState } from "./partition-state.ts";
import { conversationKey } from "./partitioner.ts";
import type { LogRecord } from "./ports.ts";
import { StagedState } from "./staged-state.ts";
import { sumText } from "./state-hash.ts";

export type ReplayOptions = {
  /** Whether the log's start has moved: then the first record need not be the journal's first. */
  readonly startMoved: boolean;
  /** Whether to compare `seq` and `prevHash` of each record with the record before it. */
  readonly checkChain: boolean;
  /**
   * State hashes of records before this `seq` are not compared, because a checkpoint may be newer
   * in parts.
   */
  readonly hashesFromSeq: number;
  /**
   * How long in ms the past of a conversation can matter. Where the log's start has moved, state
   * hashes are compared only after this time, or later, where the journal has conversations that
   * are retained for longer.
   */
  readonly spanMs: number;
};

/** A journal record with its bytes, which the chain is made over. */
export type JournalEntry = { readonly record: JournalRecord; readonly log: LogRecord };

/** Applies journal records in order. @throws StateCorruptError at the first that does not fit. */
export class Replay {
  readonly #state: PartitionState;
  readonly #options: ReplayOptions;
  /** Gate time at the start of a log whose first records are gone; undefined: none are. */
  #startAtMs: number | undefined;
  /**
   * Gate time until which conversations from before the log's start can matter, as far as is known.
   */
  #olderUntilMs = 0;
  #compared = 0;

  constructor(state: PartitionState, options: ReplayOptions) {
    this.#state = state;
    this.#options = options;
  }

  /** Whether the journal was read from a later record than its first. */
  get hasLostStart(): boolean {
    return this.#startAtMs !== undefined;
  }

  /** How many state hashes matched. */
  get compared(): number {
    return this.#compared;
  }

  /** If an entry throws, the state is that of some record before it. */
  apply(entries: readonly JournalEntry[]): void {
    let staged = new StagedState(this.#state);
    for (const entry of entries) {
      this.#applyOne(staged, entry);
      if (!staged.atHashRecord) continue;
      this.#state.apply(staged.change(entry.log.offset + 1, entry.log.appendTimeMs));
      staged = new StagedState(this.#state);
    }
    const last = entries[entries.length - 1];
    if (last === undefined) return;
    this.#state.apply(staged.change(last.log.offset + 1, last.log.appendTimeMs));
  }

  #applyOne(staged: StagedState, { record, log }: JournalEntry): void {
    const isFirst = staged.progress.seq === 0;
    if (isFirst && record.seq > 1 && this.#options.startMoved) this.#beginAt(staged, record);
    if (this.#options.checkChain) assertFollows(staged, record, log);
    const applied = staged.applyEvents(this.#selectBegun(staged, record.events), record.seq);
    const isHashRecord = record.stateHash !== null;
    const lapse = isHashRecord ? staged.lapse(record.clocks.proposals, applied.stateSum) : null;
    if (lapse !== null && this.#isComparable(record)) {
      if (sumText(lapse.stateSum) !== record.stateHash) {
        throw new StateCorruptError(
          `the state after journal record ${record.seq} differs from the state it was written with`,
          { context: { seq: record.seq, offset: log.offset } },
        );
      }
      this.#compared += 1;
    }
    if (lapse !== null) staged.acceptLapse(lapse);
    const latestMs = Math.max(record.previousAtMs, ...Object.values(record.clocks));
    staged.advance({
      seq: record.seq,
      chainHead: chainHash(record.prevHash, log.value ?? new Uint8Array()),
      next: record.next,
      ahead: aheadAfter(staged.progress.ahead, record),
      clocks: record.clocks,
      latestMs,
      stateSum: (lapse ?? applied).stateSum,
      anchor: anchoredBy(record.anchor, latestMs) ?? staged.progress.anchor,
    });
  }

  /**
   * Starts at a record that is not the journal's first: earlier records are too old to matter, and
   * are trusted.
   */
  #beginAt(staged: StagedState, record: JournalRecord): void {
    this.#startAtMs = record.previousAtMs;
    this.#olderUntilMs = record.previousAtMs + this.#options.spanMs;
    staged.advance({ ...staged.progress, seq: record.seq - 1, chainHead: record.prevHash });
  }

  /** Drops the events of conversations whose beginning is no longer in the log. */
  #selectBegun(staged: StagedState, events: readonly GateEvent[]): readonly GateEvent[] {
    const startAtMs = this.#startAtMs;
    if (startAtMs === undefined) return events;
    const begun = new Set<string>();
    return events.filter((event) => {
      const key = conversationKey(event.tenantId, event.conversationId);
      const begins = beginsWith(event);
      if (begins) begun.add(key);
      const isBegun = begins || begun.has(key) || staged.state(key) !== undefined;
      const { atMs, untilMs } = findRetention(event);
      // A conversation without events since then is retained no longer than one that has events.
      const olderUntilMs = isBegun ? startAtMs + untilMs - atMs : untilMs;
      this.#olderUntilMs = Math.max(this.#olderUntilMs, olderUntilMs);
      return isBegun;
    });
  }

  #isComparable(record: JournalRecord): boolean {
    if (record.seq < this.#options.hashesFromSeq) return false;
    return this.#startAtMs === undefined || record.clocks.proposals > this.#olderUntilMs;
  }
}

/** Whether no earlier event of its conversation is needed. */
function beginsWith(event: GateEvent): boolean {
  return event.type === "claimed" || ("conversation" in event && event.conversation.fresh);
}

/**
 * How long a decision retains its conversation: from its time until the conversation is dropped or
 * its hold ends.
 */
function findRetention(event: GateEvent): { readonly atMs: number; readonly untilMs: number } {
  if (event.type === "claimed") return { atMs: event.atMs, untilMs: event.dropAtMs };
  if (!("conversation" in event)) return { atMs: 0, untilMs: 0 };
  const { atMs, proposalsAtMs } = event.times;
  const holdUntilMs = event.type === "held" ? event.expiresAtMs : 0;
  return {
    atMs: Math.min(atMs, proposalsAtMs),
    untilMs: Math.max(event.conversation.dropAtMs, holdUntilMs),
  };
}

function aheadAfter(ahead: DecidedAhead, { input, next }: JournalRecord): DecidedAhead {
  if (input.type === "idle") return ahead;
  const { topic, offset } = input.at;
  return noteDecided(ahead, topic, offset, next[topic]);
}

function assertFollows(staged: StagedState, record: JournalRecord, log: LogRecord): void {
  const { seq, chainHead } = staged.progress;
  if (record.seq === seq + 1 && record.prevHash === chainHead) return;
  const what = record.seq === seq + 1 ? "is not linked to the one before it" : `follows ${seq}`;
  throw new StateCorruptError(`journal record ${record.seq} ${what}`, {
    context: { seq: record.seq, after: seq, offset: log.offset },
  });
}
