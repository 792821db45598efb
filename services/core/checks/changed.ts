/**
 * Whether a call may see or do something else than an earlier one. Writes to the resources that it
 * names count; for a read also writes to their ancestors, to resources contained in them, and to
 * those that `derives` makes equal.
 */
import { ledgerHasAny } from "../../collections/ledger.ts";
import { trieVisit } from "../../collections/trie.ts";
import type { ResourceGraph } from "../policy/compiled.ts";
import { isContained } from "../policy/resource-graph.ts";
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
  // Most often nothing was written since; otherwise every remembered write is compared.
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

/** Whether a write around the resources is in flight or of unknown outcome. */
function isWrittenNow({ open }: ConversationState, isAround: IsAround): boolean {
  return trieVisit(
    open,
    ({ isRead, status, call }) =>
      !isRead && status !== "held" && call.resources?.some(isAround) === true,
  );
}

/** Whether a written resource is around any of some resources. */
type IsAround = (written: string) => boolean;

/** The resources to compare with are collected once: there may be thousands of writes. */
function connected(graph: ResourceGraph, resources: readonly string[]): IsAround {
  const own = new Set(resources);
  const outer = new Set(
    resources.flatMap((one) => [...graph.listAncestors(one), ...graph.equalsOf(one)]),
  );
  return (written) =>
    outer.has(written) || graph.listAncestors(written).some((whole) => own.has(whole));
}

function nested(resources: readonly string[]): IsAround {
  return (written) =>
    resources.some((one) => isContained(one, written) || isContained(written, one));
}
