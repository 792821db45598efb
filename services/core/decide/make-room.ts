/**
 * At a bound the oldest reads, refusals and writes out of their window go, and the event names them.
 * What must not go is the history check's question; where a policy does not enforce that, it goes too.
 */
import type { CallContext } from "../checks/check.ts";
import type { Evicted } from "../events.ts";
import { LIMITS } from "../limits.ts";
import { type Ledger, ledgerDelete, ledgerFirst, ledgerPurge } from "../persistent/ledger.ts";
import type { ConversationState } from "../state/state.ts";

const NONE: readonly string[] = [];

/** `isWrite`: the decision adds a write's twin and the resources it may change. */
export function makeRoom(call: CallContext, isWrite: boolean): Evicted | null {
  const { state, nowMs, facts } = call;
  const evicted = {
    reads: isWrite ? NONE : oldest(state.readTwins, LIMITS.readTwins, LIMITS.readTwinBytes, nowMs),
    names: isWrite
      ? oldest(state.kept, LIMITS.callNames, LIMITS.callNameBytes, nowMs)
      : oldest(state.loose, LIMITS.callNames, LIMITS.callNameBytes, nowMs),
    writes: isWrite ? oldest(state.writeTwins, LIMITS.writeTwins, Infinity, nowMs) : NONE,
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
  const reads = oldest(state.readTwins, Infinity, LIMITS.readTwinBytes - bytes, nowMs);
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

/** The keys that must go, first ones first, for one more entry to fit. */
function oldest<V>(
  ledger: Ledger<V>,
  most: number,
  bytesMost: number,
  nowMs: number,
): readonly string[] {
  if (ledger.map.size < most && ledger.bytes < bytesMost) return NONE;
  const keys: string[] = [];
  let rest = ledgerPurge(ledger, nowMs);
  while (rest.map.size >= most || rest.bytes >= bytesMost) {
    const first = ledgerFirst(rest);
    if (first === undefined) break;
    keys.push(first);
    rest = ledgerDelete(rest, first);
  }
  return keys;
}

function oldestResources(
  state: ConversationState,
  added: number,
  nowMs: number,
): readonly string[] {
  return oldest(state.writes.byResource, LIMITS.resources - added + 1, Infinity, nowMs);
}
