/**
 * Changes on top of a partition's committed state that are not committed yet. States are immutable,
 * so a copy of a touched conversation is a reference, and a rollback drops it.
 */
import type { GateEvent } from "../core/events.ts";
import { isClaimId, type ReadClaim } from "../core/state/claims.ts";
import type { ConversationState } from "../core/state/state.ts";
import type { PartitionState, Progress, StateChange } from "./partition-state.ts";
import { conversationKey } from "./partitioner.ts";
import { conversationHash, exchangeHash, type StateSum } from "./state-hash.ts";
import { type Conversation, dropAtOf, memoryAfterChange } from "./stored-conversation.ts";
import { TenantCounts } from "./tenant-counts.ts";

/** How many conversations one tick handles at most; another tick handles the rest. */
export const TICK_CONVERSATIONS_MAX = 100;

/** The effect of applying a record's events. */
export type Applied = {
  /** Hash of the partition's state after them. */
  readonly stateSum: StateSum;
  readonly undo: () => void;
};

/** Conversations that are dropped at a hash record. */
export type Lapse = { readonly stateSum: StateSum; readonly dropped: readonly string[] };

export class StagedState {
  readonly #base: PartitionState;
  readonly #conversations = new Map<string, Conversation>();
  readonly #dropped = new Set<string>();
  /** Conversations that the committed state does not have. */
  readonly #added = new TenantCounts();
  /** Claims as the batch leaves them so far. */
  readonly readClaim: ReadClaim = (tenantId, claimId) =>
    this.state(conversationKey(tenantId, claimId));
  #progress: Progress;
  #atHashRecord = false;
  /** The key that was looked up last; null: none, or its state has changed since. */
  #lastKey: string | null = null;
  #last: Conversation | undefined;

  constructor(base: PartitionState) {
    this.#base = base;
    this.#progress = base.progress;
  }

  get progress(): Progress {
    return this.#progress;
  }

  /** Whether the batch ends with a hash record. */
  get atHashRecord(): boolean {
    return this.#atHashRecord;
  }

  /** Number of conversations, committed or not; those that lapse with the batch are counted. */
  get size(): number {
    return this.#base.size + (this.#isApplied ? 0 : this.#added.size);
  }

  /** The ones of the batch that are in memory beside those of the committed state. */
  get hotCount(): number {
    return this.#base.hotCount + (this.#isApplied ? 0 : this.#added.size);
  }

  countOf(tenantId: string): number {
    return this.#base.countOf(tenantId) + (this.#isApplied ? 0 : this.#added.of(tenantId));
  }

  /** Whether the committed state has the changes already. */
  get #isApplied(): boolean {
    return this.#base.progress === this.#progress;
  }

  conversation(key: string): Conversation | undefined {
    // Each input looks its state up twice: to decide, and to apply the events.
    if (key !== this.#lastKey) {
      this.#last = this.#find(key);
      this.#lastKey = key;
    }
    return this.#last;
  }

  #find(key: string): Conversation | undefined {
    if (this.#dropped.has(key)) return undefined;
    return this.#conversations.get(key) ?? this.#base.conversation(key);
  }

  state(key: string): ConversationState | undefined {
    return this.conversation(key)?.state;
  }

  /**
   * Applies the events of record `seq`: all of them, or none if one throws. A conversation that
   * already has this record (its checkpoint was newer) is left as it is.
   */
  applyEvents(events: readonly GateEvent[], seq: number): Applied {
    const [only] = events;
    // Nearly every record has one event, and needs no lists of what changed.
    if (only !== undefined && events.length === 1) return this.#applyOne(only, seq);
    const changed = new Map<string, ConversationState>();
    for (const event of events) {
      const key = conversationKey(event.tenantId, event.conversationId);
      const conversation = this.conversation(key);
      if (conversation !== undefined && conversation.seq >= seq) continue;
      const before = changed.get(key) ?? conversation?.state;
      const state = this.#base.fold.evolve(before, event);
      if (state !== undefined && state !== before) changed.set(key, state);
    }
    let { stateSum } = this.#progress;
    const undone: [string, Conversation | undefined][] = [];
    for (const [key, state] of changed) {
      undone.push([key, this.#conversations.get(key)]);
      stateSum = this.#put(key, this.conversation(key), state, seq, stateSum);
    }
    const undo = (): void => {
      for (const [key, before] of undone) this.#restore(key, before);
    };
    return { stateSum, undo };
  }

  #applyOne(event: GateEvent, seq: number): Applied {
    const { stateSum } = this.#progress;
    const key = conversationKey(event.tenantId, event.conversationId);
    const conversation = this.conversation(key);
    if (conversation !== undefined && conversation.seq >= seq) return { stateSum, undo: nothing };
    const state = this.#base.fold.evolve(conversation?.state, event);
    if (state === undefined || state === conversation?.state) return { stateSum, undo: nothing };
    const staged = this.#conversations.get(key);
    const sum = this.#put(key, conversation, state, seq, stateSum);
    return { stateSum: sum, undo: () => this.#restore(key, staged) };
  }

  /** The sum with the conversation's old hash replaced by its new one. */
  #put(
    key: string,
    before: Conversation | undefined,
    state: ConversationState,
    seq: number,
    stateSum: StateSum,
  ): StateSum {
    const old = before?.hash ?? "";
    // A claim's event has all of it, so that its hash does not depend on records that are gone.
    const chained = isClaimId(state.conversationId) ? "" : old;
    const hash = conversationHash(chained, key, seq, state);
    const deadlineMs = this.#base.fold.nextDeadlineMs(state);
    const memoryBytes = memoryAfterChange(before);
    if (before === undefined) this.#added.add(key);
    this.#conversations.set(key, { state, seq, hash, deadlineMs, memoryBytes });
    this.#lastKey = null;
    return exchangeHash(stateSum, old, hash);
  }

  advance(progress: Progress): void {
    this.#progress = progress;
  }

  /** Conversations whose deadline has passed, earliest first, then by key; bounded. */
  due(nowMs: number): readonly string[] {
    const due = this.#base.deadlines
      .due(nowMs)
      .filter(({ key }) => !this.#conversations.has(key) && !this.#dropped.has(key))
      .map(({ key, deadlineMs }) => ({ key, deadlineMs }));
    for (const [key, { deadlineMs }] of this.#conversations) {
      if (deadlineMs !== undefined && deadlineMs <= nowMs) due.push({ key, deadlineMs });
    }
    due.sort((a, b) => a.deadlineMs - b.deadlineMs || (a.key < b.key ? -1 : 1));
    return due.slice(0, TICK_CONVERSATIONS_MAX).map(({ key }) => key);
  }

  /**
   * Conversations that have lapsed at this gate time of proposals, and the hash of the state
   * without them.
   */
  lapse(proposalsAtMs: number, stateSum: StateSum): Lapse {
    const dropped = this.findLapsed(proposalsAtMs);
    let without = stateSum;
    for (const key of dropped) {
      without = exchangeHash(without, this.conversation(key)?.hash ?? "", "");
    }
    return { stateSum: without, dropped };
  }

  /**
   * Drops the conversations that `lapse` returned, once their record is made: the batch ends with
   * it.
   */
  acceptLapse({ dropped }: Lapse): void {
    for (const key of dropped) {
      this.#conversations.delete(key);
      this.#dropped.add(key);
    }
    this.#lastKey = null;
    this.#atHashRecord = true;
  }

  /** The argument for `PartitionState.apply`, once the records are in the journal. */
  change(journalOffset: number, journalTimeMs: number): StateChange {
    return {
      progress: this.#progress,
      journalOffset,
      journalTimeMs,
      conversations: this.#conversations,
      dropped: this.#dropped,
      atHashRecord: this.#atHashRecord,
    };
  }

  #restore(key: string, before: Conversation | undefined): void {
    this.#lastKey = null;
    if (before !== undefined) {
      this.#conversations.set(key, before);
      return;
    }
    this.#conversations.delete(key);
    if (!this.#base.has(key)) this.#added.remove(key);
  }

  /** Conversations that the next hash record drops, if it comes now. */
  findLapsed(proposalsAtMs: number): readonly string[] {
    const candidates = new Set(this.#base.lapses.candidates(proposalsAtMs));
    for (const key of this.#conversations.keys()) candidates.add(key);
    return [...candidates].filter((key) => {
      const conversation = this.conversation(key);
      if (conversation === undefined || dropAtOf(conversation) > proposalsAtMs) return false;
      // A held call must still end by its tick, or its proposal would never be decided.
      return conversation.deadlineMs === undefined;
    });
  }
}

function nothing(): void {
  // No state was changed.
}
