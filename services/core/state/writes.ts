/**
 * "Changed since": may anything that a call depends on have changed since an earlier call?
 *
 * W1 a call without declared resources depends on everything; a write without them changes
 *    everything. Otherwise only the same resource counts.
 * W2 a repeat of a write asks for another write that was allowed since and did not fail; a read
 *    asks for any write whose result came since, also one that failed without certainty.
 */
import { ledgerGet, ledgerPut } from "../persistent/ledger.ts";
import { trieEntries } from "../persistent/trie.ts";
import type { ConversationState, LastWrite, LastWrites, OpenCall, WriteHistory } from "./state.ts";

export interface Dependent {
  readonly actionKey: string;
  readonly isRead: boolean;
  readonly resources: readonly string[] | null;
}

const NOTHING: LastWrites = { latest: null, other: null };

export function changedSince(
  state: ConversationState,
  call: Dependent,
  sinceN: number,
  nowMs: number,
): boolean {
  if (state.writes.any.latest === null && state.open.size === 0) return false;
  const { any, undeclared, byResource } = state.writes;
  if (call.resources === null) {
    if (wrote(any, call, sinceN)) return true;
  } else {
    if (wrote(undeclared, call, sinceN)) return true;
    for (const resource of call.resources) {
      if (wrote(ledgerGet(byResource, resource, nowMs) ?? NOTHING, call, sinceN)) return true;
    }
  }
  return openWriteSince(state, call, sinceN);
}

/** Was anything written since, whatever it touched? */
export function anyWriteSince(state: ConversationState, call: Dependent, sinceN: number): boolean {
  const everything = { ...call, resources: null };
  return wrote(state.writes.any, everything, sinceN) || openWriteSince(state, everything, sinceN);
}

function wrote(writes: LastWrites, call: Dependent, sinceN: number): boolean {
  return counts(writes.latest, call, sinceN) || counts(writes.other, call, sinceN);
}

function counts(write: LastWrite | null, call: Dependent, sinceN: number): boolean {
  if (write === null) return false;
  if (call.isRead) return write.doneN > sinceN;
  return write.succeeded && write.actionKey !== call.actionKey && write.n > sinceN;
}

/** In flight or unknown: it may have changed something already. Held calls have not. */
function openWriteSince(state: ConversationState, call: Dependent, sinceN: number): boolean {
  if (state.open.size === 0) return false;
  for (const [, open] of trieEntries(state.open)) {
    if (open.isRead || open.status === "held" || open.actionKey === call.actionKey) continue;
    if (!call.isRead && open.n <= sinceN) continue;
    if (mayTouch(open, call)) return true;
  }
  return false;
}

function mayTouch(open: OpenCall, call: Dependent): boolean {
  if (open.call.resources === null || call.resources === null) return true;
  return open.call.resources.some((resource) => call.resources?.includes(resource) === true);
}

/** The history after a write's outcome is known and it may have changed something. */
export function withWrite(
  history: WriteHistory,
  write: LastWrite,
  resources: readonly string[] | null,
  dropAtMs: number,
  nowMs: number,
): WriteHistory {
  const any = pushed(history.any, write);
  if (resources === null) return { ...history, any, undeclared: pushed(history.undeclared, write) };
  let byResource = history.byResource;
  for (const resource of resources) {
    const before = ledgerGet(byResource, resource, nowMs) ?? NOTHING;
    byResource = ledgerPut(byResource, resource, pushed(before, write), dropAtMs, 0);
  }
  return { ...history, any, byResource };
}

function pushed(writes: LastWrites, write: LastWrite): LastWrites {
  const { latest } = writes;
  if (latest === null) return { latest: write, other: null };
  if (latest.actionKey === write.actionKey) return { latest: write, other: writes.other };
  return { latest: write, other: latest };
}
