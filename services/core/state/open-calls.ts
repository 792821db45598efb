/**
 * The calls that are in flight, held or of unknown outcome, and what is asked of them for every
 * call: the earliest deadline, and what is held. All of it is kept up as calls come and go, so that
 * asking costs the same however many are open.
 *
 * O1 the index follows from the calls alone: it stands in no snapshot.
 * O2 the head of `deadlines` is a deadline that some open call has.
 */
import { queueFirstEnd, queueHead, queuePop, queuePush } from "../persistent/drop-queue.ts";
import { type Trie, trieDelete, trieEntries, trieGet, trieSet } from "../persistent/trie.ts";
import { NOTHING_OPEN, type OpenIndex } from "./open-index.ts";
import type { ConversationState, OpenCall } from "./state.ts";

type OpenCalls = Pick<ConversationState, "open" | "openIndex">;

type Draft = { -readonly [K in keyof OpenCalls]: OpenCalls[K] };

/** Opens a call, or puts another record in the place of an open one: a held one stays that. */
export function putOpen(state: Draft, call: OpenCall): void {
  const before = trieGet(state.open, call.decisionId);
  state.open = trieSet(state.open, call.decisionId, call);
  let index = state.openIndex;
  if (call.held !== null && before === undefined) index = withHeld(index, call);
  if (before?.deadlineMs !== call.deadlineMs) index = withDeadline(index, call);
  state.openIndex = before === undefined ? index : swept(state.open, index);
}

/** The call that was open under the id, which is not any more. */
export function takeOpen(state: Draft, decisionId: string): OpenCall | undefined {
  const call = trieGet(state.open, decisionId);
  if (call === undefined) return undefined;
  state.open = trieDelete(state.open, decisionId);
  const index = call.held === null ? state.openIndex : withoutHeld(state.openIndex, call);
  state.openIndex = swept(state.open, index);
  return call;
}

export function indexOf(open: Trie<OpenCall>): OpenIndex {
  const calls = [...trieEntries(open)].map(([, call]) => call);
  calls.sort((a, b) => a.n - b.n || a.atMs - b.atMs || (a.decisionId < b.decisionId ? -1 : 1));
  let index = NOTHING_OPEN;
  for (const call of calls) {
    if (call.held !== null) index = withHeld(index, call);
    index = withDeadline(index, call);
  }
  return index;
}

/** The earliest deadline of a hold or of a call without a result; undefined: none. */
export function firstDeadlineMs({ openIndex }: OpenCalls): number | undefined {
  const first = queueFirstEnd(openIndex.deadlines);
  return first === Infinity ? undefined : first;
}

/** The latest held call under a key of the index; `except` leaves one hold out. */
export function latestHeld(
  { open, openIndex }: OpenCalls,
  key: string,
  except: string | null,
): OpenCall | undefined {
  if (openIndex.heldCount === 0) return undefined;
  const id = trieGet(openIndex.held, key)?.findLast((one) => one !== except);
  return id === undefined ? undefined : trieGet(open, id);
}

export function heldTwinKey(twinKey: string): string {
  return `twin ${twinKey}`;
}

export function heldEffectKey(resource: string): string {
  return `effect ${resource}`;
}

function heldKeys({ call }: OpenCall): readonly string[] {
  const resources = new Set(call.exclusive.map(({ resource }) => resource));
  return [heldTwinKey(call.twinKey), ...[...resources].map(heldEffectKey)];
}

function withHeld(index: OpenIndex, call: OpenCall): OpenIndex {
  let { held } = index;
  for (const key of heldKeys(call)) {
    held = trieSet(held, key, [...(trieGet(held, key) ?? []), call.decisionId]);
  }
  return { ...index, heldCount: index.heldCount + 1, held };
}

function withoutHeld(index: OpenIndex, call: OpenCall): OpenIndex {
  let { held } = index;
  for (const key of heldKeys(call)) {
    const left = (trieGet(held, key) ?? []).filter((id) => id !== call.decisionId);
    held = left.length === 0 ? trieDelete(held, key) : trieSet(held, key, left);
  }
  return { ...index, heldCount: index.heldCount - 1, held };
}

function withDeadline(index: OpenIndex, call: OpenCall): OpenIndex {
  const { nextOrder, heldCount, held } = index;
  if (call.deadlineMs === null) return index;
  return {
    deadlines: queuePush(index.deadlines, call.deadlineMs, nextOrder, call.decisionId),
    queued: index.queued + 1,
    nextOrder: nextOrder + 1,
    heldCount,
    held,
  };
}

/** Restores O2, and makes the queue anew where most of it is of calls that are open no more. */
function swept(open: Trie<OpenCall>, index: OpenIndex): OpenIndex {
  if (open.size === 0) return NOTHING_OPEN;
  let { deadlines, queued } = index;
  for (;;) {
    const head = queueHead(deadlines);
    if (head === undefined || trieGet(open, head.key)?.deadlineMs === head.dropAt) break;
    deadlines = queuePop(deadlines);
    queued -= 1;
  }
  if (queued > 2 * open.size + 16) return indexOf(open);
  return queued === index.queued ? index : { ...index, deadlines, queued };
}
