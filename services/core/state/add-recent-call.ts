/** Adds a call to the recent calls of its conversation, which loops are looked for in. */
import { markOf, otherMarkOf, tagOf } from "../../collections/bloom-filter.ts";
import type { Decision } from "../decision.ts";
import type { ConversationState, RingEntry, StateDraft } from "./state.ts";

export function ringEntry(event: Decision, n: number, state: ConversationState): RingEntry {
  return {
    n,
    decisionId: event.decisionId,
    actionKey: event.arguments.actionKey,
    tool: event.call.tool,
    atMs: event.times.proposalsAtMs,
    turnIndex: state.turn.index,
    isRead: event.policy.isRead,
    status: "in_flight",
    transient: false,
    digest: null,
  };
}

export function addToRing(state: StateDraft, entry: RingEntry, size: number): void {
  state.ring = pushed(state.ring, entry, size);
  const tag = tagOf(entry.actionKey);
  state.ringMarks |= markOf(tag);
  state.ringOtherMarks |= otherMarkOf(tag);
}

function pushed(ring: readonly RingEntry[], entry: RingEntry, size: number): readonly RingEntry[] {
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
