/**
 * A conversation in a partition's state; one from a checkpoint is parsed when it is first needed.
 */
import type { ConversationState } from "../core/state/state.ts";
import type { StateFold } from "./engine.ts";
import { StateCorruptError } from "./errors.ts";

export type Conversation = {
  readonly state: ConversationState;
  /** `seq` of the record with the conversation's last event. */
  readonly seq: number;
  /** See state-hash.ts. */
  readonly hash: string;
  /** When the conversation needs a tick; undefined: in this state it needs none. */
  readonly deadlineMs: number | undefined;
  /** About how many bytes of memory it takes. */
  readonly memoryBytes: number;
};

/**
 * A state takes about five times its packed bytes: after five calls with arguments of 240 bytes 7.2 KB for
 * 1.4 KB, and 7.5 KB once it was unpacked. V8 lets a heap grow to a multiple of what lives in it, at most four
 * times, before it collects garbage (`kHighFactor` of its MemoryController); 3.6 times was seen in the bench of
 * many conversations.
 */
const MEMORY_PER_BYTE = 19;
/** What a conversation takes in the indexes of its partition, 104 bytes, by the same factor. */
export const INDEX_BYTES = 400;
/** Until a state is packed for the first time: about what a call without a result adds to it; a result adds less. */
const MEMORY_OF_CHANGE = 4_500;

/** About what a state takes after one more change. */
export function memoryAfterChange(before: Conversation | undefined): number {
  return (before?.memoryBytes ?? 0) + MEMORY_OF_CHANGE;
}

export function memoryOfPacked(bytes: number): number {
  return bytes * MEMORY_PER_BYTE;
}

/** Both times of stored bytes, in ms, without parsing the state. */
export function readTimes(bytes: Uint8Array): {
  readonly deadlineMs: number | undefined;
  readonly dropAtMs: number;
} {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const deadlineMs = view.getFloat64(DEADLINE_AT);
  const dropAtMs = view.getFloat64(DROP_AT);
  return { deadlineMs: Number.isNaN(deadlineMs) ? undefined : deadlineMs, dropAtMs };
}

/** Deadline and end come first, so that both can be read without parsing the state. */
const DEADLINE_AT = 0;
const DROP_AT = 8;
const STATE_AT = 16;

/**
 * The conversation as a checkpoint stores it: a state that was never parsed is not encoded again.
 */
export function conversationBytes(conversation: Conversation, fold: StateFold): Uint8Array {
  if (conversation instanceof StoredConversation && conversation.unread !== null) {
    return conversation.unread;
  }
  const { state, deadlineMs } = conversation;
  const packed = fold.snapshot(state);
  const bytes = new Uint8Array(STATE_AT + packed.length);
  const view = new DataView(bytes.buffer);
  view.setFloat64(DEADLINE_AT, deadlineMs ?? Number.NaN);
  view.setFloat64(DROP_AT, state.dropAtMs);
  bytes.set(packed, STATE_AT);
  return bytes;
}

/**
 * A conversation whose state is parsed on first use. Most conversations of a checkpoint are never
 * used again: parsing all of them would dominate a restore, and states take more memory than their
 * bytes.
 */
export class StoredConversation implements Conversation {
  readonly seq: number;
  readonly hash: string;
  readonly deadlineMs: number | undefined;
  readonly dropAtMs: number;
  readonly memoryBytes: number;
  readonly #fold: StateFold;
  #bytes: Uint8Array | null;
  #state: ConversationState | null = null;

  /** @param bytes made by `conversationBytes`; their digest was checked. */
  constructor(bytes: Uint8Array, version: { seq: number; hash: string }, fold: StateFold) {
    const { deadlineMs, dropAtMs } = readTimes(bytes);
    this.deadlineMs = deadlineMs;
    this.dropAtMs = dropAtMs;
    this.seq = version.seq;
    this.hash = version.hash;
    this.memoryBytes = memoryOfPacked(bytes.length);
    this.#bytes = bytes;
    this.#fold = fold;
  }

  /** The bytes, until somebody asks for the state; then null. */
  get unread(): Uint8Array | null {
    return this.#bytes;
  }

  /**
   * @throws StateCorruptError where the bytes hold no state: the partition is then restored without
   *   the checkpoint.
   */
  get state(): ConversationState {
    const bytes = this.#bytes;
    if (this.#state !== null) return this.#state;
    if (bytes === null) throw new StateCorruptError("a conversation has neither bytes nor a state");
    try {
      this.#state = this.#fold.restore(bytes.subarray(STATE_AT));
    } catch (error) {
      throw new StateCorruptError("a conversation of the checkpoint cannot be read", {
        cause: error,
      });
    }
    this.#bytes = null;
    return this.#state;
  }
}

export function dropAtOf(conversation: Conversation): number {
  return conversation instanceof StoredConversation
    ? conversation.dropAtMs
    : conversation.state.dropAtMs;
}
