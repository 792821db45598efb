/**
 * The committed state of one partition: what the journal says up to `seq`.
 *
 * STATE-1 it changes only by `apply`, with what is in the journal.
 * STATE-2 `stateSum` is the sum of the hashes of all conversations in the state.
 * STATE-3 lapsed conversations are dropped at hash records only, so that every replay drops the
 *    same.
 * STATE-4 a conversation leaves memory only when the store has its newest version, and what is read
 *    back must be that version.
 */

import type { Anchored } from "./anchor.ts";
import type { ColdConversations } from "./cold-conversations.ts";
import { DeadlineIndex } from "./deadline-index.ts";
import { type DecidedAhead, NOTHING_AHEAD } from "./decided-ahead.ts";
import type { StateFold } from "./engine.ts";
import { StateCorruptError } from "./errors.ts";
import { GENESIS_HASH } from "./journal.ts";
import { LapseIndex } from "./lapse-index.ts";
import { NO_SUM, type StateSum } from "./state-hash.ts";
import type { StoreEntry, StoreSummary } from "./state-store.ts";
import {
  type Conversation,
  dropAtOf,
  INDEX_BYTES,
  memoryOfPacked,
  StoredConversation,
} from "./stored-conversation.ts";
import { TenantCounts } from "./tenant-counts.ts";
import { NO_POSITION, type PerInput } from "./topics.ts";
import { UnsavedKeys } from "./unsaved-keys.ts";

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

/** Share of the memory for conversations that is made free at once, so that it is not needed for each call. */
const SPARE = 0.1;

/** Share of the budget that conversations may take beyond it while a save runs. */
const EXCESS = 0.1;

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

/** Where the conversations are that do not fit into memory. */
export type ColdMemory = {
  readonly conversations: ColdConversations;
  /** Bytes of memory for conversations and their indexes; see stored-conversation.ts. */
  readonly memoryBytes: () => number;
};

export class PartitionState {
  readonly fold: StateFold;
  readonly deadlines = new DeadlineIndex();
  readonly lapses = new LapseIndex();
  /** What the state store does not have yet, and what the checkpoint store does not. */
  readonly unsaved = { inStore: new UnsavedKeys(), inCheckpoint: new UnsavedKeys() };
  readonly #cold: ColdMemory | null;
  /** The conversations in memory; the one that changed longest ago is the first. */
  readonly #hot = new Map<string, Conversation>();
  #hotBytes = 0;
  /** `seq` of each conversation's newest version, also of those that are not in memory. */
  readonly #seqs = new Map<string, number>();
  readonly #tenants = new TenantCounts();
  /** Conversations that were read from the store since the last change. */
  readonly #readCold = new Map<string, Conversation>();
  #progress: Progress = NO_PROGRESS;
  #journalOffset = 0;
  #journalTimeMs = 0;

  /** @param cold null: all conversations stay in memory. */
  constructor(fold: StateFold, cold: ColdMemory | null = null) {
    this.fold = fold;
    this.#cold = cold;
  }

  /** The state that a store has: its conversations are read when they are needed. */
  static resume(
    fold: StateFold,
    cold: ColdMemory,
    { header, stateSum }: StoreSummary,
    entries: Iterable<StoreEntry>,
  ): PartitionState {
    const state = new PartitionState(fold, cold);
    for (const { key, seq, deadlineMs, dropAtMs } of entries) {
      state.#seqs.set(key, seq);
      // A replay changes it no more, so this is the only time that a checkpoint learns of it.
      if (seq > header.seq) state.unsaved.inCheckpoint.add(key);
      state.#tenants.add(key);
      if (deadlineMs !== undefined) state.deadlines.set(key, deadlineMs);
      state.lapses.add(key, dropAtMs);
    }
    const { seq, chainHead, next, ahead, clocks, latestMs, anchor } = header;
    state.#progress = { seq, chainHead, next, ahead, clocks, latestMs, stateSum, anchor };
    state.#journalOffset = header.journalOffset;
    state.#journalTimeMs = header.journalTimeMs;
    return state;
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

  /** Number of conversations, in memory or not; claims are none. */
  get size(): number {
    return this.#tenants.size;
  }

  /** Number of conversations in memory. */
  get hotCount(): number {
    // Claims are in memory as well, and no conversations.
    return Math.min(this.#hot.size, this.#tenants.size);
  }

  /** Number of conversations of a tenant. */
  countOf(tenantId: string): number {
    return this.#tenants.of(tenantId);
  }

  has(key: string): boolean {
    return this.#seqs.has(key);
  }

  /** @throws StateCorruptError where the store has lost it. */
  conversation(key: string): Conversation | undefined {
    return this.#hot.get(key) ?? this.#readCold.get(key) ?? this.#findCold(key);
  }

  #findCold(key: string): Conversation | undefined {
    const seq = this.#seqs.get(key);
    if (seq === undefined) return undefined;
    if (this.#cold === null) throw new StateCorruptError("a conversation is not in memory");
    const conversation = this.#cold.conversations.read(key, seq);
    this.#readCold.set(key, conversation);
    return conversation;
  }

  /** The same, without holding on to what was read. */
  peek(key: string): Conversation | undefined {
    const conversation = this.conversation(key);
    this.#readCold.delete(key);
    return conversation;
  }

  /** The conversation where it is in memory. */
  hot(key: string): Conversation | undefined {
    return this.#hot.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#seqs.keys();
  }

  apply(change: StateChange): void {
    for (const [key, conversation] of change.conversations) this.#put(key, conversation);
    for (const key of change.dropped) this.#drop(key);
    if (change.atHashRecord) {
      this.lapses.forget(change.progress.clocks.proposals, (key) => this.#dropAt(key));
    }
    this.#readCold.clear();
    this.#progress = change.progress;
    this.#journalOffset = change.journalOffset;
    this.#journalTimeMs = change.journalTimeMs;
  }

  /** Whether conversations take more memory than there is for them, and some can leave it. */
  get isFull(): boolean {
    return this.#hot.size > 0 && this.#excessBytes > 0;
  }

  /** Whether they take so much more that decisions must wait for a save. */
  get isOverfull(): boolean {
    return this.isFull && this.#excessBytes > (this.#cold?.memoryBytes() ?? 0) * EXCESS;
  }

  /** How many bytes of memory conversations take beyond the budget; 0 or less: none. */
  get #excessBytes(): number {
    if (this.#cold === null) return Number.NEGATIVE_INFINITY;
    return this.#hotBytes + this.#seqs.size * INDEX_BYTES - this.#cold.memoryBytes();
  }

  /** Unsaved ones among the conversations whose turn it is to leave memory. */
  unsavedLeaving(): readonly string[] {
    return this.#leaving().filter((key) => this.unsaved.inStore.has(key));
  }

  /** Lets the conversations leave memory whose turn it is and which the store has. */
  evict(): void {
    for (const key of this.#leaving()) {
      if (this.unsaved.inStore.has(key)) continue;
      this.#takeOut(key);
    }
  }

  /** Those that changed longest ago, until a tenth of the budget for conversations is free. */
  #leaving(): readonly string[] {
    const excess = this.#excessBytes;
    if (excess <= 0) return [];
    const goal = excess + (this.#hotBytes - excess) * SPARE;
    const keys: string[] = [];
    let bytes = 0;
    for (const [key, { memoryBytes }] of this.#hot) {
      if (bytes >= goal) break;
      bytes += memoryBytes;
      keys.push(key);
    }
    return keys;
  }

  /** Corrects what a conversation takes, once its packed size is known. */
  notePacked(key: string, conversation: Conversation, bytes: number): void {
    if (this.#hot.get(key) !== conversation || conversation instanceof StoredConversation) return;
    const memoryBytes = memoryOfPacked(bytes);
    this.#hotBytes += memoryBytes - conversation.memoryBytes;
    this.#hot.set(key, { ...conversation, memoryBytes });
  }

  #put(key: string, conversation: Conversation): void {
    const before = this.#hot.get(key) ?? this.#readCold.get(key) ?? this.#findCold(key);
    this.#takeOut(key);
    this.#hot.set(key, conversation);
    this.#hotBytes += conversation.memoryBytes;
    if (before?.seq === conversation.seq) return;
    if (before === undefined) this.#tenants.add(key);
    this.#seqs.set(key, conversation.seq);
    this.#noteUnsaved(key);
    const { deadlineMs } = conversation;
    // Most calls come after an open earlier one, whose deadline the index already has.
    if (before?.deadlineMs !== deadlineMs) this.deadlines.set(key, deadlineMs);
    // Most conversations live longer with each call: the index finds out later when their time is
    // over.
    const dropAtMs = dropAtOf(conversation);
    if (before === undefined || dropAtMs < dropAtOf(before)) this.lapses.add(key, dropAtMs);
  }

  /** Takes it out of memory, so that it can become the last one there. */
  #takeOut(key: string): void {
    const before = this.#hot.get(key);
    if (before === undefined) return;
    this.#hotBytes -= before.memoryBytes;
    this.#hot.delete(key);
  }

  #noteUnsaved(key: string): void {
    if (this.#cold !== null) this.unsaved.inStore.add(key);
    this.unsaved.inCheckpoint.add(key);
  }

  #dropAt(key: string): number | undefined {
    const conversation = this.conversation(key);
    return conversation === undefined ? undefined : dropAtOf(conversation);
  }

  #drop(key: string): void {
    this.#takeOut(key);
    if (this.#seqs.delete(key)) this.#tenants.remove(key);
    this.#noteUnsaved(key);
    this.deadlines.set(key, undefined);
  }
}
