/** What a call wrote, where only its result names it. */

import { ledgerIsFull } from "../../collections/ledger.ts";
import { parseCanonical } from "../canonical/parse-canonical.ts";
import type { ExclusiveEffect, PendingEffect, ResultEffects } from "../events.ts";
import { LIMITS } from "../limits.ts";
import type { CompiledPolicy } from "../policy/compiled.ts";
import { namesFromResult } from "../policy/pending-resource.ts";
import type { ConversationState, OpenCall } from "../state/state.ts";
import { listAncestors } from "./facts.ts";

/**
 * Null where the result has nothing to name, or the call has no effect yet. `output`: the whole
 * output as text; null where it is not known. If the output lacks a name, the resources of the call
 * are unknown.
 */
export function nameEffects(
  state: ConversationState,
  open: OpenCall,
  output: string | null,
  { graph, unifyValue }: Pick<CompiledPolicy, "graph" | "unifyValue">,
): ResultEffects | null {
  const pending = open.call.more?.pending ?? [];
  if (pending.length === 0) return null;
  const names = namesOf(pending, output, unifyValue);
  const exclusive = pending.flatMap(
    ({ kind, rule, exclusive: once, onFailure }, at): ExclusiveEffect[] => {
      const resources = names[at] ?? null;
      if (!once || resources === null) return [];
      return resources.map((resource) => ({
        resource,
        kind,
        rule,
        ancestors: listAncestors(graph, resource),
        onFailure,
        tenantWide: false,
      }));
    },
  );
  return { resources: resourcesOf(state, open, names), exclusive };
}

function namesOf(
  pending: readonly PendingEffect[],
  output: string | null,
  unify: CompiledPolicy["unifyValue"],
): readonly (readonly string[] | null)[] {
  const parsed = output === null ? null : parseCanonical(output);
  return pending.map(({ resource }) =>
    parsed?.ok === true ? namesFromResult(resource, parsed.value, unify) : null,
  );
}

/**
 * Where there is no room to remember the resources, the call counts as one that may have changed
 * anything.
 */
function resourcesOf(
  { writes, lastAtMs }: ConversationState,
  { call }: OpenCall,
  names: readonly (readonly string[] | null)[],
): readonly string[] | null {
  if (call.resources === null || names.includes(null)) return null;
  const resources = names.flatMap((name) => name ?? []);
  const most = LIMITS.resources - resources.length + 1;
  if (ledgerIsFull(writes.byResource, most, Infinity, lastAtMs)) return null;
  return [...new Set([...call.resources, ...resources])];
}
