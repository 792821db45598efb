/** Index of the open calls: see open-calls.ts. */
import type { DropQueue } from "../../collections/drop-queue.ts";
import { emptyTrie, type Trie } from "../../collections/trie.ts";

export interface OpenIndex {
  /**
   * The earliest deadline among a few calls, ms; Infinity: none. With more calls, `deadlines` has
   * it.
   */
  readonly firstMs: number;
  /**
   * Queue of deadlines where more than a few calls are open; undefined: the calls are scanned when
   * the first one ends.
   */
  readonly deadlines: DropQueue | undefined;
  /** Number of elements of `deadlines`, those of calls that are no longer open included. */
  readonly queued: number;
  readonly nextOrder: number;
  readonly heldCount: number;
  /** Decision ids of held calls, by the keys of `heldPriorKey` and `heldEffectKey`. */
  readonly held: Trie<readonly string[]>;
}

export const NOTHING_OPEN: OpenIndex = {
  firstMs: Infinity,
  deadlines: undefined,
  queued: 0,
  nextOrder: 0,
  heldCount: 0,
  held: emptyTrie(),
};
