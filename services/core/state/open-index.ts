/** What is kept of the calls that are open, beside themselves: see open-calls.ts. */
import type { DropQueue } from "../../collections/drop-queue.ts";
import { emptyTrie, type Trie } from "../../collections/trie.ts";

export interface OpenIndex {
  /** The earliest deadline of a few, ms; Infinity: none. Of more than a few, `deadlines` knows it. */
  readonly firstMs: number;
  /** Where more than a few calls are open; undefined: they are looked through when the first one goes. */
  readonly deadlines: DropQueue | undefined;
  /** Elements of `deadlines`, those of calls that are open no more included. */
  readonly queued: number;
  readonly nextOrder: number;
  readonly heldCount: number;
  /** Decision ids of held calls, by what `heldPriorKey` and `heldEffectKey` give. */
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
