/**
 * The port of the state store: where a gate has the conversations that are not in its memory. A store
 * belongs to one process and is a cache of the journal: it may be empty, older than the journal, of
 * another log, or gone, and only time is lost.
 *
 * STORE-1 `write` is atomic and durable: all of a batch, or nothing. Batches are written in the order of
 *    the calls, and what `get` returns was written last: `get` sees a batch once `write` has resolved.
 * STORE-2 the position is that of a record which all conversations include; those written since may be
 *    newer, which a replay from there tolerates.
 * STORE-3 whoever reads trusts nothing in it: identity, position and digests are compared
 *    (restore-start.ts, cold-conversations.ts).
 */
import type { CheckpointBlob, CheckpointHeader } from "./ports.ts";
import type { StateSum } from "./state-hash.ts";

/** What the store has of a partition. */
export type StoreSummary = {
  readonly header: CheckpointHeader;
  /** Number of conversations. */
  readonly count: number;
  /** Sum of their hashes, see state-hash.ts. */
  readonly stateSum: StateSum;
};

/** `problem`: why the store cannot be read; null with a null summary: it has nothing. */
export type StoreLook = { readonly summary: StoreSummary | null; readonly problem: string | null };

/** What is known of a conversation without reading its state. Times in ms. */
export type StoreEntry = {
  readonly key: string;
  readonly seq: number;
  readonly deadlineMs: number | undefined;
  readonly dropAtMs: number;
};

export type StoreBatch = {
  readonly puts: readonly CheckpointBlob[];
  readonly removals: readonly string[];
  /** The position after the batch; null: it stays. */
  readonly header: CheckpointHeader | null;
};

/** @throws PipelineError: `checkpoint_unavailable` where it fails now, `state_corrupt` where it is damaged. */
export interface StateStore {
  look(partition: number): StoreLook;
  /** Synchronous, since a decision waits for it. */
  get(partition: number, key: string): CheckpointBlob | undefined;
  entries(partition: number): Iterable<StoreEntry>;
  write(partition: number, batch: StoreBatch): Promise<void>;
  /** Removes all that the partition has, in its turn among the writes. */
  clear(partition: number): Promise<void>;
  /** Bytes on disk of the conversations that the partitions in use have, or would have. */
  readonly bytes: number;
  close(): Promise<void>;
}
