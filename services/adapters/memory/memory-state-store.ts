import type { CheckpointBlob } from "../../runtime/ports.ts";
import { exchangeHash, NO_SUM, type StateSum } from "../../runtime/state-hash.ts";
import type { StateStore, StoreBatch, StoreEntry, StoreLook } from "../../runtime/state-store.ts";
import { readTimes } from "../../runtime/stored-conversation.ts";

type Stored = {
  header: StoreBatch["header"];
  stateSum: StateSum;
  readonly blobs: Map<string, CheckpointBlob>;
};

/** A state store in memory, for tests. */
export class MemoryStateStore implements StateStore {
  readonly #partitions = new Map<number, Stored>();

  get bytes(): number {
    let bytes = 0;
    for (const { blobs } of this.#partitions.values()) {
      for (const blob of blobs.values()) bytes += blob.bytes.length;
    }
    return bytes;
  }

  look(partition: number): StoreLook {
    const stored = this.#partitions.get(partition);
    if (stored === undefined) return { summary: null, problem: null };
    const { header, stateSum, blobs } = stored;
    if (header === null) return { summary: null, problem: "its position cannot be read" };
    return { summary: { header, stateSum, count: blobs.size }, problem: null };
  }

  get(partition: number, key: string): CheckpointBlob | undefined {
    return this.#partitions.get(partition)?.blobs.get(key);
  }

  *entries(partition: number): Iterable<StoreEntry> {
    for (const { key, seq, bytes } of this.#partitions.get(partition)?.blobs.values() ?? []) {
      yield { key, seq, ...readTimes(bytes) };
    }
  }

  write(partition: number, { puts, removals, header }: StoreBatch): Promise<void> {
    const stored = this.#partitions.get(partition) ?? {
      header: null,
      stateSum: NO_SUM,
      blobs: new Map<string, CheckpointBlob>(),
    };
    for (const key of removals) {
      stored.stateSum = exchangeHash(stored.stateSum, stored.blobs.get(key)?.hash ?? "", "");
      stored.blobs.delete(key);
    }
    for (const blob of puts) {
      const before = stored.blobs.get(blob.key)?.hash ?? "";
      stored.stateSum = exchangeHash(stored.stateSum, before, blob.hash);
      stored.blobs.set(blob.key, blob);
    }
    stored.header = header ?? stored.header;
    this.#partitions.set(partition, stored);
    return Promise.resolve();
  }

  clear(partition: number): Promise<void> {
    this.#partitions.delete(partition);
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
