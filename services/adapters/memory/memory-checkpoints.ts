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

type Held = {
  readonly mark: string;
  readonly header: CheckpointHeader;
  readonly blobs: ReadonlyMap<string, CheckpointBlob>;
  readonly digestSum: string;
};

/** Checkpoints in memory: for a gate that keeps nothing on disk, and for tests. */
export class MemoryCheckpoints implements CheckpointStore {
  readonly #held = new Map<number, Held>();
  #saves = 0;

  async load(partition: number): Promise<LoadedCheckpoint> {
    const held = this.#held.get(partition);
    if (held === undefined) return { mark: null, checkpoint: null, problem: null };
    const checkpoint: Checkpoint = {
      header: held.header,
      count: held.blobs.size,
      digestSum: held.digestSum,
      blobs: [...held.blobs.values()],
    };
    return { mark: held.mark, checkpoint, problem: null };
  }

  async save(
    partition: number,
    update: CheckpointUpdate,
    expectedMark: string | null,
  ): Promise<CheckpointSaved> {
    const held = this.#held.get(partition);
    const mark = held?.mark ?? null;
    if (mark !== expectedMark) return { type: "stale", mark };
    const blobs = new Map(update.replace ? [] : held?.blobs);
    let digestSum = update.replace ? ZERO_DIGEST : (held?.digestSum ?? ZERO_DIGEST);
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
    const next: Held = { mark: `m${this.#saves}`, header: update.header, blobs, digestSum };
    this.#held.set(partition, next);
    return { type: "saved", mark: next.mark };
  }
}
