/**
 * The committed state of one partition: what the journal says up to `seq`.
 *
 * STATE-1 it changes only by `apply`, with what is in the journal.
 * STATE-2 `stateSum` is the sum of the hashes of all conversations in the state.
 * STATE-3 lapsed conversations are dropped at hash records only, so that every replay drops the
 *    same.
 */

import type { Anchored } from "./anchor.ts";
import { DeadlineIndex } from "./deadline-index.ts";
import { type DecidedAhead, NOTHING_AHEAD } from "./decided-ahead.ts";
import type { StateFold } from "./engine.ts";
import { GENESIS_HASH } from "./journal.ts";
import { LapseIndex } from "./lapse-index.ts";
import { NO_SUM, type StateSum } from "./state-hash.ts";
import { type Conversation, dropAtOf } from "./stored-conversation.ts";
import { NO_POSITION, type PerInput } from "./topics.ts";

/** How far a partition has come in its journal and its inputs. */
export type Progress = {
  readonly seq: number;
  readonly chainHead: string;
  /** Offsets of the input topics to read next. */
  readonly next: PerInput;
  readonly ahead: DecidedAhead;
  readonly clocks: PerInput;
  /** Largest gate time so far. */
  readonly latestMs: number;
  readonly stateSum: StateSum;
  /** What the journal depends on; null: no record has named it yet. */
  readonly anchor: Anchored | null;
};

/** What a batch, or a replayed stretch, changes. */
export type StateChange = {
  readonly progress: Progress;
  /** Offset in the journal after the last record of the change. */
  readonly journalOffset: number;
  readonly journalTimeMs: number;
  readonly conversations: ReadonlyMap<string, Conversation>;
  readonly dropped: ReadonlySet<string>;
  /**
   * Whether the change ends with a hash record: then `dropped` has the conversations that had
   * lapsed by then.
   */
  readonly atHashRecord: boolean;
};

const NO_PROGRESS: Progress = {
  seq: 0,
  chainHead: GENESIS_HASH,
  next: NO_POSITION,
  ahead: NOTHING_AHEAD,
  clocks: NO_POSITION,
  latestMs: 0,
  stateSum: NO_SUM,
  anchor: null,
};

export class PartitionState {
  readonly fold: StateFold;
  readonly deadlines = new DeadlineIndex();
  readonly lapses = new LapseIndex();
  readonly #conversations = new Map<string, Conversation>();
  #unsaved = new Set<string>();
  #progress: Progress = NO_PROGRESS;
  #journalOffset = 0;
  #journalTimeMs = 0;

  constructor(fold: StateFold) {
    this.fold = fold;
  }

  get progress(): Progress {
    return this.#progress;
  }

  /** Offset in the journal after the last record in the state. */
  get journalOffset(): number {
    return this.#journalOffset;
  }

  /** Append time of the last record in the state; 0: it has none. */
  get journalTimeMs(): number {
    return this.#journalTimeMs;
  }

  get size(): number {
    return this.#conversations.size;
  }

  conversation(key: string): Conversation | undefined {
    return this.#conversations.get(key);
  }

  conversations(): IterableIterator<[string, Conversation]> {
    return this.#conversations.entries();
  }

  apply(change: StateChange): void {
    for (const [key, conversation] of change.conversations) this.#put(key, conversation);
    for (const key of change.dropped) this.#drop(key);
    if (change.atHashRecord) {
      this.lapses.forget(change.progress.clocks.proposals, (key) => this.#dropAt(key));
    }
    this.#progress = change.progress;
    this.#journalOffset = change.journalOffset;
    this.#journalTimeMs = change.journalTimeMs;
  }

  /** How many keys `takeUnsaved` would return. */
  get unsavedCount(): number {
    return this.#unsaved.size;
  }

  /** Keys that changed since the last call, including removed ones. */
  takeUnsaved(): ReadonlySet<string> {
    const unsaved = this.#unsaved;
    this.#unsaved = new Set();
    return unsaved;
  }

  /** Gives back keys that `takeUnsaved` returned and that were not saved. */
  returnUnsaved(keys: ReadonlySet<string>): void {
    for (const key of keys) this.#unsaved.add(key);
  }

  #put(key: string, conversation: Conversation): void {
    const before = this.#conversations.get(key);
    this.#conversations.set(key, conversation);
    if (before?.seq === conversation.seq) return;
    this.#unsaved.add(key);
    const { deadlineMs } = conversation;
    // Most calls come after an open earlier one, whose deadline the index already has.
    if (before?.deadlineMs !== deadlineMs) this.deadlines.set(key, deadlineMs);
    // Most conversations live longer with each call: the index finds out later when their time is
    // over.
    const dropAtMs = dropAtOf(conversation);
    if (before === undefined || dropAtMs < dropAtOf(before)) this.lapses.add(key, dropAtMs);
  }

  #dropAt(key: string): number | undefined {
    const conversation = this.#conversations.get(key);
    return conversation === undefined ? undefined : dropAtOf(conversation);
  }

  #drop(key: string): void {
    this.#conversations.delete(key);
    this.#unsaved.add(key);
    this.deadlines.set(key, undefined);
  }
}
