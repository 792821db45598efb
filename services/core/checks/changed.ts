/**
 * Whether a call may see or do something else than an earlier one: by what was written to the resources
 * that it names; of a read, also to what they lie in, what lies in them, and what stands for them.
 */
import { ledgerHasAny } from "../persistent/ledger.ts";
import { trieVisit } from "../persistent/trie.ts";
import type { ResourceGraph } from "../policy/compiled.ts";
import type { ConversationState } from "../state/state.ts";
import { changedSince } from "../state/writes.ts";
import type { CallContext } from "./check.ts";

export function hasChanged(call: CallContext, sinceN: number): boolean {
  const { tool, dependsOn: resources, state, nowMs, actionKey } = call;
  const dependent = { actionKey, isRead: tool.isRead, resources };
  if (changedSince(state, dependent, sinceN, nowMs)) return true;
  return tool.isRead && resources !== null && isWrittenAround(call, resources, sinceN);
}

function isWrittenAround(
  { state, policy: { graph }, nowMs }: CallContext,
  resources: readonly string[],
  sinceN: number,
): boolean {
  const isAround = (written: string): boolean =>
    resources.some((resource) => hangTogether(graph, resource, written));
  if (isWrittenNow(state, isAround)) return true;
  // Most often nothing at all was written since; else all that is remembered is looked through.
  if (state.writes.any.doneN <= sinceN) return false;
  return ledgerHasAny(
    state.writes.byResource,
    ({ key, value, dropAt }) => value.doneN > sinceN && dropAt > nowMs && isAround(key),
  );
}

/** In flight or of unknown outcome. */
function isWrittenNow(
  { open }: ConversationState,
  isAround: (written: string) => boolean,
): boolean {
  return trieVisit(
    open,
    ({ isRead, status, call }) =>
      !isRead && status !== "held" && call.resources?.some(isAround) === true,
  );
}

function hangTogether(graph: ResourceGraph, a: string, b: string): boolean {
  if (!graph.hasEdges) return lies(a, b) || lies(b, a);
  if (graph.equalsOf(a).includes(b)) return true;
  return graph.wholesOf(a).includes(b) || graph.wholesOf(b).includes(a);
}

function lies(part: string, whole: string): boolean {
  return part.startsWith(whole) && part.charAt(whole.length) === "/";
}
