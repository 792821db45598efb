/** Adds a call to the recent calls of its conversation, among which the gate looks for loops. */
import { markOf, otherMarkOf, tagOf } from "../../collections/bloom-filter.ts";
import type { Decision } from "../decision.ts";
import type { ConversationState, RecentCall, StateDraft } from "./state.ts";

export function makeRecentCall(event: Decision, n: number, state: ConversationState): RecentCall {
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

export function addRecentCall(state: StateDraft, entry: RecentCall, size: number): void {
  state.recentCalls = pushed(state.recentCalls, entry, size);
  const tag = tagOf(entry.actionKey);
  state.recentMarks |= markOf(tag);
  state.recentOtherMarks |= otherMarkOf(tag);
}

function pushed(
  recentCalls: readonly RecentCall[],
  entry: RecentCall,
  size: number,
): readonly RecentCall[] {
  // A push to a copy of the same length would double its capacity.
  const next =
    recentCalls.length <= size ? recentCalls.slice() : recentCalls.slice(recentCalls.length - size);
  if (next.length < size) {
    next.push(entry);
    return next;
  }
  for (let at = 1; at < size; at += 1) next[at - 1] = next[at] as RecentCall;
  next[size - 1] = entry;
  return next;
}
