/** What is known of the ring of recent calls without looking at its entries. */
import { mayHold, tagOf } from "../../collections/bloom-filter.ts";
import type { ConversationState } from "./state.ts";

type Marked = Pick<ConversationState, "recentMarks" | "recentOtherMarks">;

type Counted = Pick<ConversationState, "n" | "open" | "openIndex">;

/** False: no entry of the ring has this action key. */
export function mayBeRecent({ recentMarks, recentOtherMarks }: Marked, actionKey: string): boolean {
  return mayHold({ marks: recentMarks, otherMarks: recentOtherMarks }, tagOf(actionKey));
}

/**
 * Of how many entries, at most, it is known what came of them. `n` counts calls, answers from memory and outcomes, one of which
 * each call that is open still lacks.
 */
export function settledAtMost({ n, open, openIndex }: Counted): number {
  return n - (open.size - openIndex.heldCount);
}
