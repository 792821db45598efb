/** Builds a state on what the state store has: only its index is read. */
import { ColdConversations } from "./cold-conversations.ts";
import { type ColdMemory, PartitionState } from "./partition-state.ts";
import type { LocalStates, ReadContext } from "./restore-context.ts";
import type { StoreEntry, StoreSummary } from "./state-store.ts";

/** How many entries are read between two pauses, and how long a pause may be away, ms. */
const STRETCH = 5_000;

export function coldOf({ partition, fold }: ReadContext, states: LocalStates): ColdMemory {
  const { store, memoryBytes } = states;
  return { conversations: new ColdConversations(store, partition, fold), memoryBytes };
}

/** Null where the store's index does not fit its summary. */
export async function resumeState(
  context: ReadContext,
  states: LocalStates,
  summary: StoreSummary,
): Promise<{ readonly state: PartitionState; readonly newestSeq: number } | null> {
  const { partition, clock, fold, logger } = context;
  const entries: StoreEntry[] = [];
  let newestSeq = 0;
  try {
    for (const entry of states.store.entries(partition)) {
      entries.push(entry);
      newestSeq = Math.max(newestSeq, entry.seq);
      if (entries.length % STRETCH === 0) await clock.sleep(0);
    }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    logger.warn("the state store was ignored", { partition, problem });
    return null;
  }
  if (entries.length !== summary.count) {
    logger.warn("the state store was ignored", { partition, problem: "conversations are missing" });
    return null;
  }
  const state = PartitionState.resume(fold, coldOf(context, states), summary, entries);
  return { state, newestSeq };
}
