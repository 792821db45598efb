/** What is known of the ring of recent calls without looking at its entries. */
import { mayHold, tagOf } from "../../collections/key-mark.ts";
import type { ConversationState, RingEntry } from "./state.ts";

type Marked = Pick<ConversationState, "ringMarks" | "ringOtherMarks">;

type Counted = Pick<ConversationState, "n" | "open" | "openIndex">;

/** False: no entry of the ring has this action key. */
export function mayBeRecent({ ringMarks, ringOtherMarks }: Marked, actionKey: string): boolean {
  return mayHold({ marks: ringMarks, otherMarks: ringOtherMarks }, tagOf(actionKey));
}

/**
 * Of how many entries, at most, it is known what came of them. `n` counts calls, answers from memory and outcomes, one of which
 * each call that is open still lacks.
 */
export function toldAtMost({ n, open, openIndex }: Counted): number {
  return n - (open.size - openIndex.heldCount);
}

/** The ring with one entry more, of at most `size`. */
export function pushEntry(
  ring: readonly RingEntry[],
  entry: RingEntry,
  size: number,
): readonly RingEntry[] {
  // A push to a copy of the same length would take room for as many again.
  const next = ring.length <= size ? ring.slice() : ring.slice(ring.length - size);
  if (next.length < size) {
    next.push(entry);
    return next;
  }
  for (let at = 1; at < size; at += 1) next[at - 1] = next[at] as RingEntry;
  next[size - 1] = entry;
  return next;
}
