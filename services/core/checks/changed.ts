/**
 * Whether a call may see or do something else than an earlier one: by what was written to the resources
 * that it names; of a read, also to their ancestors, to what they contain, and to their other names.
 */
import { ledgerHasAny } from "../../collections/ledger.ts";
import { trieVisit } from "../../collections/trie.ts";
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
  const { open, writes } = state;
  // Most often nothing at all was written since; else all that is remembered is looked through.
  const isAny = writes.any.doneN > sinceN;
  if (!isAny && open.size === 0) return false;
  const isAround = graph.hasEdges ? connected(graph, resources) : nested(resources);
  if (isWrittenNow(state, isAround)) return true;
  return (
    isAny &&
    ledgerHasAny(
      writes.byResource,
      ({ key, value, dropAt }) => value.doneN > sinceN && dropAt > nowMs && isAround(key),
    )
  );
}

/** In flight or of unknown outcome. */
function isWrittenNow({ open }: ConversationState, isAround: IsAround): boolean {
  return trieVisit(
    open,
    ({ isRead, status, call }) =>
      !isRead && status !== "held" && call.resources?.some(isAround) === true,
  );
}

/** Whether what was written is around any of some resources. */
type IsAround = (written: string) => boolean;

/** What the resources lead to is found once: thousands may have been written. */
function connected(graph: ResourceGraph, resources: readonly string[]): IsAround {
  const own = new Set(resources);
  const outer = new Set(
    resources.flatMap((one) => [...graph.listAncestors(one), ...graph.equalsOf(one)]),
  );
  return (written) =>
    outer.has(written) || graph.listAncestors(written).some((whole) => own.has(whole));
}

function nested(resources: readonly string[]): IsAround {
  return (written) => resources.some((one) => lies(one, written) || lies(written, one));
}

function lies(part: string, whole: string): boolean {
  return part.startsWith(whole) && part.charAt(whole.length) === "/";
}
