/** The conversations of a partition that are in its store and not in memory. */
import { blobDigest } from "./blob-digest.ts";
import type { StateFold } from "./engine.ts";
import { StateCorruptError } from "./errors.ts";
import type { StateStore } from "./state-store.ts";
import { type Conversation, StoredConversation } from "./stored-conversation.ts";

export class ColdConversations {
  readonly #store: StateStore;
  readonly #partition: number;
  readonly #fold: StateFold;

  constructor(store: StateStore, partition: number, fold: StateFold) {
    this.#store = store;
    this.#partition = partition;
    this.#fold = fold;
  }

  /**
   * @param seq the version that left memory.
   * @throws StateCorruptError where the store has another version, none, or a damaged one: the
   *   partition is then restored without the store.
   */
  read(key: string, seq: number): Conversation {
    const blob = this.#store.get(this.#partition, key);
    if (blob === undefined) throw this.#corrupt("lost a conversation");
    if (blob.seq !== seq) throw this.#corrupt("has another version of a conversation");
    if (blobDigest(key, seq, blob.hash, blob.bytes) !== blob.digest) {
      throw this.#corrupt("has a damaged conversation");
    }
    return new StoredConversation(blob.bytes, { seq, hash: blob.hash }, this.#fold);
  }

  #corrupt(what: string): StateCorruptError {
    const context = { partition: this.#partition };
    return new StateCorruptError(`the state store ${what}`, { context });
  }
}
