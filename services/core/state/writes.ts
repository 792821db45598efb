/**
 * "Changed since": whether anything that a call depends on may have changed since an earlier call.
 *
 * WRITE-1 a call without declared resources depends on everything; a write without them changes
 * everything. Otherwise only the same resource counts.
 * WRITE-2 for a repeated write, another write counts that was allowed since and did not fail; for a
 * read, any write whose result came since, also one that failed without certainty.
 */
import { ledgerGet, ledgerPurge, ledgerPut } from "../../collections/ledger.ts";
import { trieVisit } from "../../collections/trie.ts";
import {
  type ConversationState,
  type LastWrite,
  type LastWrites,
  NO_WRITES,
  type OpenCall,
  type WriteHistory,
} from "./state.ts";

export interface Dependent {
  readonly actionKey: string;
  readonly isRead: boolean;
  readonly resources: readonly string[] | null;
}

export function changedSince(
  state: ConversationState,
  call: Dependent,
  sinceN: number,
  nowMs: number,
): boolean {
  if (state.writes.any.doneN === 0 && state.open.size === 0) return false;
  const { any, undeclared, byResource } = state.writes;
  if (call.resources === null) {
    if (wrote(any, call, sinceN)) return true;
  } else {
    if (wrote(undeclared, call, sinceN)) return true;
    for (const resource of call.resources) {
      if (wrote(ledgerGet(byResource, resource, nowMs) ?? NO_WRITES, call, sinceN)) return true;
    }
  }
  return openWriteSince(state, call, sinceN);
}

/** Whether anything was written since, whatever it touched. */
export function anyWriteSince(state: ConversationState, call: Dependent, sinceN: number): boolean {
  const everything = { ...call, resources: null };
  return wrote(state.writes.any, everything, sinceN) || openWriteSince(state, everything, sinceN);
}

function wrote(writes: LastWrites, call: Dependent, sinceN: number): boolean {
  if (call.isRead) return writes.doneN > sinceN;
  return counts(writes.latest, call, sinceN) || counts(writes.other, call, sinceN);
}

function counts(write: LastWrite | null, call: Dependent, sinceN: number): boolean {
  return write !== null && write.actionKey !== call.actionKey && write.n > sinceN;
}

/**
 * A write in flight or of unknown outcome may have changed something already. A held one has not.
 */
function openWriteSince(state: ConversationState, call: Dependent, sinceN: number): boolean {
  if (state.open.size === 0) return false;
  return trieVisit(state.open, (open) => {
    if (open.isRead || open.status === "held" || open.actionKey === call.actionKey) return false;
    if (!call.isRead && open.n <= sinceN) return false;
    return mayTouch(open, call);
  });
}

function mayTouch(open: OpenCall, call: Dependent): boolean {
  if (open.call.resources === null || call.resources === null) return true;
  // Only its result names all that it writes: until then no read may be answered as if it wrote
  // nothing else.
  if (call.isRead && open.call.more !== null && open.call.more.pending.length > 0) return true;
  return open.call.resources.some((resource) => call.resources?.includes(resource) === true);
}

interface DoneWrite extends LastWrite {
  readonly doneN: number;
  /** False where it failed in a way that may have changed something all the same. */
  readonly succeeded: boolean;
  readonly windowUntilMs: number;
}

/** The history after a write's outcome is known, if the write may have changed something. */
export function withWrite(
  history: WriteHistory,
  write: DoneWrite,
  resources: readonly string[] | null,
  dropAtMs: number,
  nowMs: number,
): WriteHistory {
  const any = pushed(history.any, write);
  if (resources === null) return { ...history, any, undeclared: pushed(history.undeclared, write) };
  let byResource = ledgerPurge(history.byResource, nowMs);
  for (const resource of resources) {
    const before = ledgerGet(byResource, resource, nowMs) ?? NO_WRITES;
    byResource = ledgerPut(byResource, resource, pushed(before, write), dropAtMs, 0);
  }
  return { ...history, any, byResource };
}

function pushed(writes: LastWrites, write: DoneWrite): LastWrites {
  const done = {
    ...writes,
    doneN: write.doneN,
    windowUntilMs: Math.max(writes.windowUntilMs, write.windowUntilMs),
  };
  if (!write.succeeded) return done;
  const { actionKey, n } = write;
  return { ...done, ...lastTwo({ actionKey, n }, writes.latest, writes.other) };
}

/** Results do not come in the order of the calls: the time at which a write was allowed counts. */
function lastTwo(
  write: LastWrite,
  latest: LastWrite | null,
  other: LastWrite | null,
): Pick<LastWrites, "latest" | "other"> {
  if (latest === null) return { latest: write, other };
  if (write.actionKey === latest.actionKey) {
    return { latest: write.n > latest.n ? write : latest, other };
  }
  if (write.n > latest.n) return { latest: write, other: latest };
  return { latest, other: other === null || write.n > other.n ? write : other };
}
