import { addDigests, subtractDigests, ZERO_DIGEST } from "../../runtime/digest-sum.ts";
import type {
  Checkpoint,
  CheckpointBlob,
  CheckpointHeader,
  CheckpointSaved,
  CheckpointStore,
  CheckpointUpdate,
  LoadedCheckpoint,
} from "../../runtime/ports.ts";

type Stored = {
  readonly mark: string;
  readonly header: CheckpointHeader;
  readonly blobs: ReadonlyMap<string, CheckpointBlob>;
  readonly digestSum: string;
};

/** Checkpoints in memory, for a gate without storage and for tests. */
export class MemoryCheckpoints implements CheckpointStore {
  readonly #stored = new Map<number, Stored>();
  #saves = 0;

  async load(partition: number): Promise<LoadedCheckpoint> {
    const stored = this.#stored.get(partition);
    if (stored === undefined) return { mark: null, checkpoint: null, problem: null };
    const checkpoint: Checkpoint = {
      header: stored.header,
      count: stored.blobs.size,
      digestSum: stored.digestSum,
      blobs: [...stored.blobs.values()],
    };
    return { mark: stored.mark, checkpoint, problem: null };
  }

  async save(
    partition: number,
    update: CheckpointUpdate,
    expectedMark: string | null,
  ): Promise<CheckpointSaved> {
    const stored = this.#stored.get(partition);
    const mark = stored?.mark ?? null;
    if (mark !== expectedMark) return { type: "stale", mark };
    const blobs = new Map(update.replace ? [] : stored?.blobs);
    let digestSum = update.replace ? ZERO_DIGEST : (stored?.digestSum ?? ZERO_DIGEST);
    for (const key of update.removals) {
      digestSum = subtractDigests(digestSum, blobs.get(key)?.digest ?? ZERO_DIGEST);
      blobs.delete(key);
    }
    for (const blob of update.upserts) {
      digestSum = subtractDigests(digestSum, blobs.get(blob.key)?.digest ?? ZERO_DIGEST);
      digestSum = addDigests(digestSum, blob.digest);
      blobs.set(blob.key, blob);
    }
    this.#saves += 1;
    const next: Stored = { mark: `m${this.#saves}`, header: update.header, blobs, digestSum };
    this.#stored.set(partition, next);
    return { type: "saved", mark: next.mark };
  }
}
