/**
 * Check 9: an exclusive effect on a resource that stands already, whichever tool had it. Only
 * declared exclusive effects conflict: writing one thing through several tools is ordinary work.
 */
import { cutText } from "../cut-text.ts";
import type { ExclusiveEffect } from "../events.ts";
import { LIMITS } from "../limits.ts";
import { trieGet } from "../persistent/trie.ts";
import { heldEffectKey, latestHeld } from "../state/open-calls.ts";
import type { EffectHolder } from "../state/state.ts";
import { type CallContext, type Finding, finding, NOTHING } from "./check.ts";

export function checkSideEffects(call: CallContext): readonly Finding[] {
  if (call.facts.exclusive.length === 0 || call.covered) return NOTHING;
  const found: Finding[] = [];
  for (const effect of call.facts.exclusive) {
    const holder = trieGet(call.state.effects, effect.resource)?.[0];
    if (holder !== undefined && conflicts(call, effect, holder)) {
      found.push(conflict(call, effect, holder));
    }
    const held = heldHolder(call, effect.resource);
    if (held !== undefined) found.push(conflict(call, effect, held));
  }
  return found;
}

function conflicts(call: CallContext, effect: ExclusiveEffect, holder: EffectHolder): boolean {
  const sameAction = holder.actionKey === call.actionKey;
  // A retry of what may not have happened is the duplicate check's question.
  if (sameAction && (holder.status === "failed" || call.tool.repeatable)) return false;
  return !undoes(effect.kind, holder.kind);
}

/** What is created after it was deleted, or deleted after it was created, stands alone. */
function undoes(kind: string, earlier: string): boolean {
  return (kind === "create" && earlier === "delete") || (kind === "delete" && earlier === "create");
}

function heldHolder(call: CallContext, resource: string): EffectHolder | undefined {
  if (call.state.openIndex.heldCount === 0) return undefined;
  const open = latestHeld(call.state, heldEffectKey(resource), call.decisionId);
  const effect = open?.call.exclusive.find((other) => other.resource === resource);
  if (open === undefined || effect === undefined) return undefined;
  const { decisionId, callId, tool, actionKey, atMs } = open;
  const { kind, wholes } = effect;
  return { decisionId, callId, tool, actionKey, atMs, kind, status: "held", wholes };
}

function conflict(call: CallContext, effect: ExclusiveEffect, holder: EffectHolder): Finding {
  // Named by arguments, so by the model: bounded as those are, and marked as data.
  const resource = cutText(effect.resource, LIMITS.shownArguments);
  const { callId, decisionId, tool, atMs, status } = holder;
  return finding({
    reason: "side_effect_conflict",
    rule: effect.rule,
    disposition: "ask_user",
    detail: `\`${tool}\` (call ${callId}) already had this effect on ${JSON.stringify(resource)}.`,
    earlier: { callId, decisionId, tool, atMs, status },
    conflict: { resource, path: [tool, resource, call.proposal.tool] },
    resolution: "confirmation",
  });
}
