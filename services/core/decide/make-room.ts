/**
 * At a bound the oldest reads, refusals and writes out of their window go, and the event names them.
 * What must not go is the history check's question; where a policy does not enforce that, it goes too.
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
 * What the decision adds: a write as a prior call with the resources it may change, a read as a prior
 * call, or a refusal with its name alone.
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

/** A call that is open is answered, and resumed, under its name. */
function oldestWrites({ retained, open }: ConversationState, nowMs: number): readonly string[] {
  const { callNames, callNameBytes } = LIMITS;
  const isOpen = ({ decisionId }: RetainedDecision) => trieGet(open, decisionId) !== undefined;
  return ledgerOverflow(retained, callNames, callNameBytes, nowMs, isOpen);
}

function oldestLoose({ loose }: ConversationState, nowMs: number): readonly string[] {
  return ledgerOverflow(loose, LIMITS.callNames, LIMITS.callNameBytes, nowMs);
}

/** Room for the name of a call that was refused and not judged. */
export function makeRoomForName(state: ConversationState, nowMs: number): Evicted | null {
  const names = oldestLoose(state, nowMs);
  return names.length === 0 ? null : { reads: NONE, names, writes: NONE, resources: NONE };
}

/** Room for an output that is about to be kept. */
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
