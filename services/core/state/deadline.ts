/** When a conversation needs a tick, and when it has lapsed. */
import { trieEntries } from "../../collections/trie.ts";
import { firstDeadlineMs } from "./open-calls.ts";
import type { ConversationState, OpenCall } from "./state.ts";

/** The earliest deadline of a hold or of a call without a result; undefined: none. */
export function nextDeadlineMs(state: ConversationState): number | undefined {
  return firstDeadlineMs(state);
}

/** Calls whose deadline has come, the earliest first; ties by decision id. */
export function dueCalls(state: ConversationState, nowMs: number): OpenCall[] {
  const due: OpenCall[] = [];
  for (const [, call] of trieEntries(state.open)) {
    if (call.deadlineMs !== null && call.deadlineMs <= nowMs) due.push(call);
  }
  return due.sort(
    (a, b) => (a.deadlineMs ?? 0) - (b.deadlineMs ?? 0) || (a.decisionId < b.decisionId ? -1 : 1),
  );
}

/**
 * Whether the conversation counts as absent. `decide` treats a lapsed one as one never seen, so
 * dropping it from memory changes no decision. A conversation with a held call waits for the end of
 * the hold, or that proposal would never be decided. `proposalsAtMs`: the partition's time of
 * proposals.
 */
export function hasLapsed(state: ConversationState, proposalsAtMs: number): boolean {
  return proposalsAtMs >= state.dropAtMs && state.openIndex.heldCount === 0;
}
