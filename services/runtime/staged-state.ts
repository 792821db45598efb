/**
 * Changes on top of a partition's committed state that are not committed yet. States are immutable,
 * so a copy of a touched conversation is a reference, and rolling back is forgetting it.
 */
import type { GateEvent } from "../core/events.ts";
import type { ConversationState } from "../core/state/state.ts";
import { addDigests, subtractDigests, ZERO_DIGEST } from "./digest-sum.ts";
import type { Conversation, PartitionState, Progress, StateChange } from "./partition-state.ts";
import { conversationKey } from "./partitioner.ts";
import { conversationDigest } from "./state-hash.ts";

/** Conversations that one tick looks at; for the rest there is another tick. */
export const TICK_CONVERSATIONS_MAX = 100;

export type Rehash = {
  readonly sum: string;
  readonly conversations: ReadonlyMap<string, Conversation>;
  readonly dropped: ReadonlySet<string>;
};

export class StagedState {
  readonly #base: PartitionState;
  readonly #conversations = new Map<string, Conversation>();
  readonly #dropped = new Set<string>();
  #progress: Progress;
  #rehashed = false;

  constructor(base: PartitionState) {
    this.#base = base;
    this.#progress = base.progress;
  }

  get progress(): Progress {
    return this.#progress;
  }

  /** A batch ends with a hash record. */
  get rehashed(): boolean {
    return this.#rehashed;
  }

  conversation(key: string): Conversation | undefined {
    if (this.#dropped.has(key)) return undefined;
    return this.#conversations.get(key) ?? this.#base.conversation(key);
  }

  state(key: string): ConversationState | undefined {
    return this.conversation(key)?.state;
  }

  /**
   * Applies the events of record `seq`: all of them, or none if one throws. A conversation that has
   * seen this record already (its checkpoint was newer) is left as it is. Gives what undoes it.
   */
  applyEvents(events: readonly GateEvent[], seq: number): () => void {
    const changed = new Map<string, Conversation>();
    for (const event of events) {
      const key = conversationKey(event.tenantId, event.conversationId);
      const before = changed.get(key) ?? this.conversation(key);
      if (before !== undefined && before.seq >= seq && !changed.has(key)) continue;
      const state = this.#base.fold.evolve(before?.state, event);
      if (state === undefined || state === before?.state) continue;
      const hashed = before?.hashed ?? ZERO_DIGEST;
      changed.set(key, { state, seq, hashed, hashedSeq: before?.hashedSeq ?? 0 });
    }
    const before = new Map([...changed.keys()].map((key) => [key, this.#conversations.get(key)]));
    for (const [key, conversation] of changed) this.#conversations.set(key, conversation);
    return () => {
      for (const [key, conversation] of before) {
        if (conversation === undefined) this.#conversations.delete(key);
        else this.#conversations.set(key, conversation);
      }
    };
  }

  advance(progress: Progress): void {
    this.#progress = progress;
  }

  /** Conversations whose deadline has come, earliest first, then by key; bounded. */
  due(nowMs: number): readonly string[] {
    const due = this.#base.deadlines
      .due(nowMs)
      .filter(({ key }) => !this.#conversations.has(key) && !this.#dropped.has(key))
      .map(({ key, deadlineMs }) => ({ key, deadlineMs }));
    for (const [key, { state }] of this.#conversations) {
      const deadlineMs = this.#base.fold.nextDeadlineMs(state);
      if (deadlineMs !== undefined && deadlineMs <= nowMs) due.push({ key, deadlineMs });
    }
    due.sort((a, b) => a.deadlineMs - b.deadlineMs || (a.key < b.key ? -1 : 1));
    return due.slice(0, TICK_CONVERSATIONS_MAX).map(({ key }) => key);
  }

  /**
   * The sum of all digests at this time of proposals, without what has lapsed by then. Only the
   * conversations that changed since the last hash record are hashed. Changes nothing.
   */
  rehash(proposalsAtMs: number): Rehash {
    let sum = this.#progress.hashSum;
    const dropped = new Set(this.#lapsed(proposalsAtMs));
    for (const key of dropped) {
      sum = subtractDigests(sum, this.conversation(key)?.hashed ?? ZERO_DIGEST);
    }
    const conversations = new Map<string, Conversation>();
    for (const key of new Set([...this.#base.unhashed, ...this.#conversations.keys()])) {
      const conversation = this.conversation(key);
      if (conversation === undefined || dropped.has(key)) continue;
      const { state, seq, hashed, hashedSeq } = conversation;
      if (hashedSeq === seq) continue;
      const digest = conversationDigest(key, seq, this.#base.fold.snapshot(state));
      sum = addDigests(subtractDigests(sum, hashed), digest);
      conversations.set(key, { state, seq, hashed: digest, hashedSeq: seq });
    }
    return { sum, conversations, dropped };
  }

  /** Takes over what `rehash` found, once its record is made. */
  acceptRehash(rehash: Rehash): void {
    for (const key of rehash.dropped) {
      this.#conversations.delete(key);
      this.#dropped.add(key);
    }
    for (const [key, conversation] of rehash.conversations) {
      this.#conversations.set(key, conversation);
    }
    this.#rehashed = true;
  }

  /** What `PartitionState.apply` takes, once the records are in the journal. */
  change(journalOffset: number, journalTimeMs: number): StateChange {
    return {
      progress: this.#progress,
      journalOffset,
      journalTimeMs,
      conversations: this.#conversations,
      dropped: this.#dropped,
      rehashed: this.#rehashed,
    };
  }

  #lapsed(proposalsAtMs: number): readonly string[] {
    const candidates = new Set(this.#base.lapses.candidates(proposalsAtMs));
    for (const key of this.#conversations.keys()) candidates.add(key);
    const { fold } = this.#base;
    return [...candidates].filter((key) => {
      const state = this.state(key);
      if (state === undefined || !fold.hasLapsed(state, proposalsAtMs)) return false;
      // A hold must still end by its tick, or its proposal would never be decided.
      return fold.nextDeadlineMs(state) === undefined;
    });
  }
}
