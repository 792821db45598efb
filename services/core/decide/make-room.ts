/**
 * When a bound is reached, the oldest reads, refusals and writes out of their window are dropped,
 * and the event names them. The history check refuses a write where nothing may be dropped; where a
 * policy does not enforce that check, entries are dropped all the same.
 */

import { ledgerOverflow } from "../../collections/ledger.ts";
import { trieGet } from "../../collections/trie.ts";
import type { CallContext } from "../checks/check.ts";
import type { Evicted } from "../decision.ts";
import { LIMITS } from "../limits.ts";
import type { RetainedDecision } from "../state/retained-decision.ts";
import type { ConversationState } from "../state/state.ts";

const NONE: readonly string[] = [];

/**
 * `adds`: a write with its prior call and the resources it may change, a read with its prior call,
 * or a refusal with its name alone.
 */
export function makeRoom(call: CallContext, adds: "write" | "read" | "refusal"): Evicted | null {
  const { state, nowMs, facts } = call;
  const isWrite = adds === "write";
  const evicted = {
    reads:
      adds !== "read"
        ? NONE
        : ledgerOverflow(state.priorReads, LIMITS.priorReads, LIMITS.priorReadBytes, nowMs),
    names: isWrite ? oldestWrites(state, nowMs) : oldestLoose(state, nowMs),
    writes: isWrite ? ledgerOverflow(state.priorWrites, LIMITS.priorWrites, Infinity, nowMs) : NONE,
    resources: isWrite ? oldestResources(state, facts.resources?.length ?? 0, nowMs) : NONE,
  };
  return isNothing(evicted) ? null : evicted;
}

/** The name of an open call stays: the gate answers and resumes the call under it. */
function oldestWrites({ retained, open }: ConversationState, nowMs: number): readonly string[] {
  const { callNames, callNameBytes } = LIMITS;
  const isOpen = ({ decisionId }: RetainedDecision) => trieGet(open, decisionId) !== undefined;
  return ledgerOverflow(retained, callNames, callNameBytes, nowMs, isOpen);
}

function oldestLoose({ loose }: ConversationState, nowMs: number): readonly string[] {
  return ledgerOverflow(loose, LIMITS.callNames, LIMITS.callNameBytes, nowMs);
}

/** Makes room for the name of a call that was refused and not judged. */
export function makeRoomForName(state: ConversationState, nowMs: number): Evicted | null {
  const names = oldestLoose(state, nowMs);
  return names.length === 0 ? null : { reads: NONE, names, writes: NONE, resources: NONE };
}

/** Makes room for an output that is about to be stored. */
export function makeRoomForOutput(
  state: ConversationState,
  bytes: number,
  nowMs: number,
): Evicted | null {
  const reads = ledgerOverflow(state.priorReads, Infinity, LIMITS.priorReadBytes - bytes, nowMs);
  return reads.length === 0 ? null : { reads, names: NONE, writes: NONE, resources: NONE };
}

function isNothing(evicted: Evicted): boolean {
  return (
    evicted.reads.length === 0 &&
    evicted.names.length === 0 &&
    evicted.writes.length === 0 &&
    evicted.resources.length === 0
  );
}

function oldestResources(
  state: ConversationState,
  added: number,
  nowMs: number,
): readonly string[] {
  return ledgerOverflow(state.writes.byResource, LIMITS.resources - added + 1, Infinity, nowMs);
}
