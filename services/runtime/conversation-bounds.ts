/**
 * Bounds on what the gate of one process has of conversations, over all of its partitions.
 *
 * BOUNDS-1 a bound applies to new conversations alone: what belongs to one that has begun goes on.
 * BOUNDS-2 what is refused is journaled with its reason, so a replay needs no bounds.
 */
import type { Clock } from "./ports.ts";

export type ConversationLimits = {
  /** Conversations of all tenants; absent: no bound. */
  readonly conversations?: number | undefined;
  readonly conversationsPerTenant?: number | undefined;
  /** Bytes of the state store; it is measured once a second. */
  readonly stateBytes?: number | undefined;
};

/** Conversations of one partition. */
export interface ConversationCounts {
  readonly size: number;
  /** How many of them are in memory. */
  readonly hotCount: number;
  countOf(tenantId: string): number;
}

/** How many conversations are no longer needed, and are dropped with the next record. */
export type SpareCounts = Pick<ConversationCounts, "countOf" | "size">;

export const NONE_SPARE: SpareCounts = { size: 0, countOf: () => 0 };

export type BoundsParts = {
  readonly limits: ConversationLimits;
  readonly clock: Clock;
  /** Bytes of the state store; null: there is none. */
  readonly stateBytes: (() => number) | null;
};

const MEASURE_EVERY_MS = 1_000;
const LOOK_EVERY_MS = 1_000;

export class ConversationBounds {
  readonly #parts: BoundsParts;
  readonly #partitions = new Map<number, ConversationCounts>();
  /** Gate time at which each partition last looked for conversations that have lapsed. */
  readonly #lookedAtMs = new Map<number, number>();
  #stateBytes = 0;
  #measuredAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: BoundsParts) {
    this.#parts = parts;
  }

  /** Counts these conversations for the partition from now on. */
  track(partition: number, counts: ConversationCounts): void {
    this.#partitions.set(partition, counts);
  }

  release(partition: number): void {
    this.#partitions.delete(partition);
  }

  /** Conversations of all partitions, by where they are. */
  count(): { readonly memory: number; readonly store: number } {
    let memory = 0;
    let size = 0;
    for (const counts of this.#partitions.values()) {
      memory += counts.hotCount;
      size += counts.size;
    }
    return { memory, store: size - memory };
  }

  /**
   * The bound that a new conversation would exceed, by its configuration key; null: none.
   * @param own the partition's conversations, with those that are not committed yet.
   */
  exceededBy(
    { partition, tenantId }: { readonly partition: number; readonly tenantId: string },
    own: ConversationCounts,
    spare: SpareCounts,
  ): string | null {
    const { conversations, conversationsPerTenant, stateBytes } = this.#parts.limits;
    const sum = (count: (one: SpareCounts) => number): number => {
      let total = count(own) - count(spare);
      for (const [other, counts] of this.#partitions) {
        if (other !== partition) total += count(counts);
      }
      return total;
    };
    if (conversations !== undefined && sum(({ size }) => size) >= conversations) {
      return "limits.conversations";
    }
    if (
      conversationsPerTenant !== undefined &&
      sum((one) => one.countOf(tenantId)) >= conversationsPerTenant
    ) {
      return "limits.conversationsPerTenant";
    }
    if (stateBytes !== undefined && this.#measure() >= stateBytes) return "limits.stateBytes";
    return null;
  }

  /**
   * Whether the partition may look for conversations that have lapsed: a flood of new ones must not
   * make it do so for each.
   */
  mayLook(partition: number, gateMs: number): boolean {
    const lookedAtMs = this.#lookedAtMs.get(partition) ?? Number.NEGATIVE_INFINITY;
    if (Math.abs(gateMs - lookedAtMs) < LOOK_EVERY_MS) return false;
    this.#lookedAtMs.set(partition, gateMs);
    return true;
  }

  #measure(): number {
    const { clock, stateBytes } = this.#parts;
    if (stateBytes === null) return 0;
    const nowMs = clock.nowMs();
    // Also where the clock was set back.
    if (Math.abs(nowMs - this.#measuredAtMs) >= MEASURE_EVERY_MS) {
      this.#stateBytes = stateBytes();
      this.#measuredAtMs = nowMs;
    }
    return this.#stateBytes;
  }
}
