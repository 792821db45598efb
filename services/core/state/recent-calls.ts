/** The recent calls of a conversation, among which the gate looks for loops. */
import { markOf, mayHold, otherMarkOf, tagOf } from "../../collections/bloom-filter.ts";
import type { Decision } from "../decision.ts";
import type { ConversationState, RecentCall, StateDraft } from "./state.ts";

type Marked = Pick<ConversationState, "recentMarks" | "recentOtherMarks">;

type Counted = Pick<ConversationState, "n" | "open" | "openIndex">;

/** The key of an action as one agent takes it: several agents of a conversation loop each for itself. */
export function loopKeyOf(key: string, agentId: string | null): string {
  return agentId === null ? key : `${key}#${agentId}`;
}

/** False: no recent call has this loop key. */
export function mayBeRecent({ recentMarks, recentOtherMarks }: Marked, loopKey: string): boolean {
  return mayHold({ marks: recentMarks, otherMarks: recentOtherMarks }, tagOf(loopKey));
}

/**
 * The most recent calls that can have an outcome. `n` counts calls, answers from memory and
 * outcomes, one of which each open call still lacks.
 */
export function settledAtMost({ n, open, openIndex }: Counted): number {
  return n - (open.size - openIndex.heldCount);
}

/** Whether the user, or a person whom a call asked, has said something since the call. */
export function isBeforeInput(
  { turnIndex, n }: Pick<RecentCall, "turnIndex" | "n">,
  { turn }: Pick<ConversationState, "turn">,
): boolean {
  return turnIndex !== turn.index || n < turn.answeredN;
}

export function makeRecentCall(event: Decision, n: number, state: ConversationState): RecentCall {
  return {
    n,
    decisionId: event.decisionId,
    loopKey: loopKeyOf(event.arguments.actionKey, event.call.agentId),
    tool: event.call.tool,
    atMs: event.times.proposalsAtMs,
    turnIndex: state.turn.index,
    isRead: event.policy.isRead,
    status: "in_flight",
    transient: false,
    digest: null,
    maskedDigest: null,
    agentId: event.call.agentId,
  };
}

export function addRecentCall(state: StateDraft, entry: RecentCall, size: number): void {
  state.recentCalls = pushed(state.recentCalls, entry, size);
  const tag = tagOf(entry.loopKey);
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
