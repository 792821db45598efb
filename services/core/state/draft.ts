/** A copy of a conversation's state for an event to fill. */
import type { ConversationState, StateDraft } from "./state.ts";

/**
 * Lists every member: after a spread of this many the engine stores most of them outside the
 * object, with spare room.
 */
export function draftOf(state: ConversationState): StateDraft {
  return {
    tenantId: state.tenantId,
    conversationId: state.conversationId,
    startedAtMs: state.startedAtMs,
    lastAtMs: state.lastAtMs,
    dropAtMs: state.dropAtMs,
    n: state.n,
    turn: state.turn,
    totals: state.totals,
    tools: state.tools,
    retained: state.retained,
    loose: state.loose,
    terms: state.terms,
    forgotten: state.forgotten,
    priorReads: state.priorReads,
    priorWrites: state.priorWrites,
    open: state.open,
    doubts: state.doubts,
    openIndex: state.openIndex,
    writes: state.writes,
    effects: state.effects,
    effectIndex: state.effectIndex,
    sketches: state.sketches,
    recentCalls: state.recentCalls,
    actions: state.actions,
    recentMarks: state.recentMarks,
    recentOtherMarks: state.recentOtherMarks,
    strikes: state.strikes,
    cycle: state.cycle,
    flags: state.flags,
    rates: state.rates,
    grants: state.grants,
    confirmations: state.confirmations,
    heldTime: state.heldTime,
    manualGrants: state.manualGrants,
    denials: state.denials,
    sealKeyId: state.sealKeyId,
  };
}
