// What a call wrote by its result, and the grant that a call gets back.
import { parseCanonical } from "../../../services/core/canonical/parse-canonical.ts";
import type { ResultInput } from "../../../services/core/inputs.ts";
import type { Call, History } from "./history.ts";

/**
 * Adds the effects that the result of a call names; the resources become null where a name is
 * missing.
 */
export function nameEffects(call: Call, input: ResultInput | null): void {
  if (call.pending.length === 0 || call.status === "unknown") return;
  const happened = call.status === "succeeded" || call.effect === "possible";
  const output = happened ? (input?.output ?? null) : null;
  const parsed = output === null ? null : parseCanonical(output);
  const value = parsed?.ok === true ? (parsed.value as { readonly id?: unknown } | null) : null;
  const id = typeof value === "object" ? value?.id : undefined;
  // Policies of random histories use no other placeholder.
  const hasId = typeof id === "string";
  const names = call.pending.map(({ resource }) => resource.replace("{result.id}", String(id)));
  const mayTouch = call.touched;
  call.touched = hasId && mayTouch !== null ? [...mayTouch, ...names] : null;
  if (!hasId) return;
  const once = call.pending.map((effect, at) => ({ ...effect, resource: names[at] as string }));
  const stands = once.filter(({ exclusive }) => exclusive);
  call.exclusive = [
    ...call.exclusive,
    ...stands.map(({ resource, kind, rule, onFailure }) => ({
      ...{ resource, kind, rule, onFailure },
      ancestors: null,
      tenantWide: false,
    })),
  ];
}

/** A manual grant gets back a call that did not run, unless a later verdict replaced it. */
export function giveBack(history: History, call: Call): void {
  if (call.status !== "not_executed") return;
  const manualGrant = history.manualGrants.get(call.manualGrant ?? "");
  if (manualGrant === undefined || manualGrant.calls === null) return;
  if (call.order > manualGrant.order) manualGrant.calls += 1;
}
