/**
 * At a bound the oldest reads, refusals and writes out of their window go, and the event names them.
 * What must not go is the history check's question; where a policy does not enforce that, it goes too.
 */
import type { CallContext } from "../checks/check.ts";
import type { Evicted } from "../events.ts";
import { LIMITS } from "../limits.ts";
import { ledgerOverflow } from "../persistent/ledger.ts";
import type { ConversationState } from "../state/state.ts";

const NONE: readonly string[] = [];

/**
 * What the decision adds: a write with its twin and the resources it may change, a read with its
 * twin, or a refusal with its name alone.
 */
export function makeRoom(call: CallContext, adds: "write" | "read" | "refusal"): Evicted | null {
  const { state, nowMs, facts } = call;
  const isWrite = adds === "write";
  const evicted = {
    reads:
      adds !== "read"
        ? NONE
        : ledgerOverflow(state.readTwins, LIMITS.readTwins, LIMITS.readTwinBytes, nowMs),
    names: isWrite
      ? ledgerOverflow(state.kept, LIMITS.callNames, LIMITS.callNameBytes, nowMs)
      : ledgerOverflow(state.loose, LIMITS.callNames, LIMITS.callNameBytes, nowMs),
    writes: isWrite ? ledgerOverflow(state.writeTwins, LIMITS.writeTwins, Infinity, nowMs) : NONE,
    resources: isWrite ? oldestResources(state, facts.resources?.length ?? 0, nowMs) : NONE,
  };
  return isNothing(evicted) ? null : evicted;
}

/** Room for an output that is about to be kept. */
export function makeRoomForOutput(
  state: ConversationState,
  bytes: number,
  nowMs: number,
): Evicted | null {
  const reads = ledgerOverflow(state.readTwins, Infinity, LIMITS.readTwinBytes - bytes, nowMs);
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
