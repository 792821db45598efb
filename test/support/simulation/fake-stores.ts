// The disks of the machines on which simulated processes run: each has a state store, which one
// living process has at a time, and which may be lost, be rolled back, lose a conversation, or fail.
import { MemoryStateStore } from "../../../services/adapters/memory/memory-state-store.ts";
import { RetryableError } from "../../../services/runtime/errors.ts";
import type { CheckpointBlob } from "../../../services/runtime/ports.ts";
import type { LocalStates } from "../../../services/runtime/restore-context.ts";
import type { StateStore } from "../../../services/runtime/state-store.ts";
import type { FaultRates } from "./faults.ts";
import type { Random } from "./random.ts";
import type { SimulatedProcess } from "./scheduler.ts";

type Disk = { store: MemoryStateStore; owner: SimulatedProcess | null };
type Roll = (kind: keyof FaultRates) => boolean;
/** A call to the outside: it waits for its turn, and its process may die just before or after it. */
type Call = (owner: SimulatedProcess, name: string, effect: () => void) => Promise<void>;

const DISKS = 2;
const COPIES_MAX = 20;
/** With the first, no conversation fits into memory once it is saved; then one to five fit. */
const MEMORY_BYTES = [0, 0, 14_000, 35_000, 70_000] as const;
/** Each conversation is a step of its own, with a rest after it. */
const ONE_EACH = 1;

export class FakeStores {
  readonly #disks: readonly Disk[];
  readonly #older: MemoryStateStore[] = [];
  readonly #random: Random;
  readonly #roll: Roll;
  readonly #call: Call;
  readonly #partition: number;

  constructor(random: Random, roll: Roll, call: Call, partition: number) {
    this.#random = random;
    this.#roll = roll;
    this.#call = call;
    this.#partition = partition;
    this.#disks = Array.from({ length: DISKS }, () => ({
      store: new MemoryStateStore(),
      owner: null,
    }));
  }

  /** The store that a starting process finds; null: it has no disk. */
  attach(owner: SimulatedProcess): LocalStates | null {
    const free = this.#disks.filter((disk) => disk.owner === null || !disk.owner.alive);
    const disk = free[0];
    if (disk === undefined || this.#random.chance(0.4)) return null;
    disk.owner = owner;
    if (this.#roll("storeLost")) disk.store = new MemoryStateStore();
    else if (this.#older.length > 0 && this.#roll("storeOld")) {
      disk.store = copyOf(this.#random.pick(this.#older), this.#partition);
    }
    const memory = this.#random.pick(MEMORY_BYTES);
    return {
      store: this.#failing(disk.store, owner),
      memoryBytes: () => memory,
      stepBytes: ONE_EACH,
    };
  }

  #failing(store: MemoryStateStore, owner: SimulatedProcess): StateStore {
    let last = Promise.resolve();
    const inTurn = (name: string, effect: () => void): Promise<void> => {
      const written = last.then(() => this.#call(owner, name, effect));
      last = written.catch(() => undefined);
      return written;
    };
    return {
      look: (partition) => store.look(partition),
      get: (partition, key) => this.#worn(store.get(partition, key), partition),
      entries: (partition) => store.entries(partition),
      write: (partition, batch) =>
        inTurn("write", () => {
          if (this.#roll("storeError")) throw new RetryableError("checkpoint_unavailable", "full");
          if (batch.header !== null && this.#older.length < COPIES_MAX) {
            this.#older.push(copyOf(store, this.#partition));
          }
          void store.write(partition, batch);
        }),
      clear: (partition) => inTurn("clear", () => void store.clear(partition)),
      bytes: 0,
      close: () => Promise.resolve(),
    };
  }

  /** A conversation that is gone, damaged, or as it was before. */
  #worn(blob: CheckpointBlob | undefined, partition: number): CheckpointBlob | undefined {
    if (blob === undefined || !this.#roll("storeTorn")) return blob;
    if (this.#random.chance(0.3)) return undefined;
    if (this.#random.chance(0.5)) return { ...blob, bytes: blob.bytes.slice(0, -1) };
    const older = this.#older.map((store) => store.get(partition, blob.key));
    return older.find((one) => one !== undefined && one.seq < blob.seq);
  }
}

function copyOf(store: MemoryStateStore, partition: number): MemoryStateStore {
  const copy = new MemoryStateStore();
  const { summary } = store.look(partition);
  const puts = [...store.entries(partition)].flatMap(({ key }) => store.get(partition, key) ?? []);
  void copy.write(partition, { puts, removals: [], header: summary?.header ?? null });
  return copy;
}
