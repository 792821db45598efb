/**
 * Calls that are in flight, held or of unknown outcome, with an index for the questions of every
 * call: the earliest deadline, and what is held. Each change updates the index, so that a question
 * costs the same however many calls are open.
 *
 * OPEN-1 the calls alone determine the index: no snapshot contains it.
 * OPEN-2 the head of `deadlines` is a deadline that some open call has.
 * OPEN-3 up to `FEW` open calls have no queue of deadlines, only the first deadline: they are
 * scanned when that call ends.
 */
import {
  type Dropping,
  type DropQueue,
  queueFirstEnd,
  queueFrom,
  queueHead,
  queuePop,
  queuePush,
} from "../../collections/drop-queue.ts";
import { type Trie, trieDelete, trieGet, trieSet, trieVisit } from "../../collections/trie.ts";
import { NOTHING_OPEN, type OpenIndex } from "./open-index.ts";
import type { ConversationState, OpenCall } from "./state.ts";

const FEW = 24;

type OpenCalls = Pick<ConversationState, "open" | "openIndex">;

type Draft = { -readonly [K in keyof OpenCalls]: OpenCalls[K] };

/** Opens a call, or replaces the record of an open one: a read of unknown outcome may be held. */
export function putOpen(state: Draft, call: OpenCall): void {
  const before = trieGet(state.open, call.decisionId);
  state.open = trieSet(state.open, call.decisionId, call);
  let index = state.openIndex;
  const held = before?.held ?? null;
  if (call.held !== held) {
    if (before !== undefined && held !== null) index = withoutHeld(index, before);
    if (call.held !== null) index = withHeld(index, call);
  }
  if (state.open.size > FEW) index = withDeadline(state.open, index, call, before);
  else index = withFirst(state.open, index, call, before);
  state.openIndex = index;
}

/** The index of a few calls after one was put; `before` is the record that it replaced. */
function withFirst(
  open: Trie<OpenCall>,
  index: OpenIndex,
  { deadlineMs }: OpenCall,
  before: OpenCall | undefined,
): OpenIndex {
  if (before !== undefined && before.deadlineMs !== deadlineMs) return atFirst(open, index);
  return deadlineMs === null || deadlineMs >= index.firstMs
    ? index
    : { ...index, firstMs: deadlineMs };
}

/** The index of a few calls, with the first deadline among them. */
function atFirst(open: Trie<OpenCall>, index: OpenIndex): OpenIndex {
  return { ...index, firstMs: earliest(open), deadlines: undefined, queued: 0 };
}

/** Removes and returns the call that was open under the id. */
export function takeOpen(state: Draft, decisionId: string): OpenCall | undefined {
  const call = trieGet(state.open, decisionId);
  if (call === undefined) return undefined;
  state.open = trieDelete(state.open, decisionId);
  const index = call.held === null ? state.openIndex : withoutHeld(state.openIndex, call);
  state.openIndex = swept(state.open, index, call);
  return call;
}

export function indexOf(open: Trie<OpenCall>): OpenIndex {
  const calls = inOrder(open);
  let index = NOTHING_OPEN;
  for (const call of calls) if (call.held !== null) index = withHeld(index, call);
  return open.size > FEW ? { ...index, ...deadlinesOf(calls) } : atFirst(open, index);
}

/** The earliest deadline of a hold or of a call without a result; undefined: none. */
export function firstDeadlineMs({ openIndex }: OpenCalls): number | undefined {
  const { deadlines, firstMs } = openIndex;
  const first = deadlines === undefined ? firstMs : queueFirstEnd(deadlines);
  return first === Infinity ? undefined : first;
}

function earliest(open: Trie<OpenCall>): number {
  let first = Infinity;
  trieVisit(open, ({ deadlineMs }) => {
    if (deadlineMs !== null && deadlineMs < first) first = deadlineMs;
    return false;
  });
  return first;
}

/** The latest held call under a key of the index; `except` excludes one hold. */
export function latestHeld(
  { open, openIndex }: OpenCalls,
  key: string,
  except: string | null,
): OpenCall | undefined {
  if (openIndex.heldCount === 0) return undefined;
  let latest: OpenCall | undefined;
  for (const id of trieGet(openIndex.held, key) ?? []) {
    const call = id === except ? undefined : trieGet(open, id);
    if (call !== undefined && (latest === undefined || inTurn(latest, call) < 0)) latest = call;
  }
  return latest;
}

/** The order of calls is determined by the state, whichever of those of one moment came first. */
function inTurn(a: OpenCall, b: OpenCall): number {
  return a.n - b.n || a.atMs - b.atMs || (a.decisionId < b.decisionId ? -1 : 1);
}

export function heldPriorKey(priorKey: string): string {
  return `call ${priorKey}`;
}

export function heldEffectKey(resource: string): string {
  return `effect ${resource}`;
}

function heldKeys({ call }: OpenCall): readonly string[] {
  const resources = new Set(call.exclusive.map(({ resource }) => resource));
  return [heldPriorKey(call.priorKey), ...[...resources].map(heldEffectKey)];
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

function inOrder(open: Trie<OpenCall>): readonly OpenCall[] {
  const calls: OpenCall[] = [];
  trieVisit(open, (call) => {
    calls.push(call);
    return false;
  });
  return calls.sort(inTurn);
}

type Deadlines = Pick<OpenIndex, "queued" | "nextOrder"> & { readonly deadlines: DropQueue };

function deadlinesOf(calls: readonly OpenCall[]): Deadlines {
  const waiting: Dropping[] = [];
  for (const { deadlineMs, decisionId } of calls) {
    if (deadlineMs === null) continue;
    waiting.push({ dropAt: deadlineMs, order: waiting.length, key: decisionId });
  }
  const queued = waiting.length;
  return { deadlines: queueFrom(waiting), queued, nextOrder: queued };
}

/**
 * The index of more than a few calls after one was put; `before` is the record that it replaced.
 */
function withDeadline(
  open: Trie<OpenCall>,
  index: OpenIndex,
  { deadlineMs, decisionId }: OpenCall,
  before: OpenCall | undefined,
): OpenIndex {
  const { queued, nextOrder, heldCount, held, firstMs } = index;
  if (index.deadlines === undefined)
    return { firstMs, heldCount, held, ...deadlinesOf(inOrder(open)) };
  const isNew = deadlineMs !== null && deadlineMs !== before?.deadlineMs;
  const next = isNew
    ? {
        deadlines: queuePush(index.deadlines, deadlineMs, nextOrder, decisionId),
        queued: queued + 1,
        nextOrder: nextOrder + 1,
        firstMs,
        heldCount,
        held,
      }
    : index;
  return before === undefined ? next : swept(open, next, before);
}

/**
 * Restores OPEN-2 and OPEN-3 after a call has ended, and rebuilds the queue where most of its elements are
 * of calls that are no longer open.
 */
function swept(open: Trie<OpenCall>, index: OpenIndex, gone: OpenCall): OpenIndex {
  if (open.size === 0) return NOTHING_OPEN;
  let { deadlines, queued } = index;
  if (deadlines === undefined) {
    return gone.deadlineMs === index.firstMs ? atFirst(open, index) : index;
  }
  if (open.size <= FEW) return atFirst(open, index);
  for (;;) {
    const head = queueHead(deadlines);
    if (head === undefined || trieGet(open, head.key)?.deadlineMs === head.dropAt) break;
    deadlines = queuePop(deadlines);
    queued -= 1;
  }
  if (queued > 2 * open.size + 16) return { ...index, ...deadlinesOf(inOrder(open)) };
  return queued === index.queued ? index : { ...index, deadlines, queued };
}
