/** Facts of the recent calls that need no look at their entries. */
import { mayHold, tagOf } from "../../collections/bloom-filter.ts";
import type { ConversationState } from "./state.ts";

type Marked = Pick<ConversationState, "recentMarks" | "recentOtherMarks">;

type Counted = Pick<ConversationState, "n" | "open" | "openIndex">;

/** False: no recent call has this action key. */
export function mayBeRecent({ recentMarks, recentOtherMarks }: Marked, actionKey: string): boolean {
  return mayHold({ marks: recentMarks, otherMarks: recentOtherMarks }, tagOf(actionKey));
}

/**
 * The most recent calls that can have an outcome. `n` counts calls, answers from memory and
 * outcomes, one of which each open call still lacks.
 */
export function settledAtMost({ n, open, openIndex }: Counted): number {
  return n - (open.size - openIndex.heldCount);
}
