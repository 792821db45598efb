/**
 * Check 9: an exclusive effect that stands already, whichever tool had it: on the same resource, on
 * one that stands for the same thing, and, of a delete or transfer, on what holds it or lies in it.
 * Only declared exclusive effects conflict: writing one thing through several tools is ordinary work.
 */

import { cutText } from "../cut-text.ts";
import type { ExclusiveEffect } from "../events.ts";
import { escapeHidden, quoteId, quoteText } from "../hidden-text.ts";
import { LIMITS } from "../limits.ts";
import { trieGet, trieVisit } from "../persistent/trie.ts";
import type { EffectHolder } from "../state/effect-holder.ts";
import { mayStand, pathPrefixes } from "../state/effect-index.ts";
import { heldEffectKey, latestHeld } from "../state/open-calls.ts";
import type { ConversationState } from "../state/state.ts";
import { type CallContext, type Finding, finding, NOTHING } from "./check.ts";

export function checkSideEffects(call: CallContext): readonly Finding[] {
  if (call.facts.exclusive.length === 0 || call.covered) return NOTHING;
  const held = heldEffects(call.state);
  const found: Finding[] = [];
  for (const effect of call.facts.exclusive) {
    const asked = { call, effect, held };
    const conflict = onOneThing(asked) ?? onWholes(asked) ?? onParts(asked);
    if (conflict !== null) found.push(conflict);
  }
  return found;
}

interface Asked {
  readonly call: CallContext;
  readonly effect: ExclusiveEffect;
  /** Of all held calls. */
  readonly held: readonly ExclusiveEffect[];
}

const NOTHING_HELD: readonly ExclusiveEffect[] = [];

/** So few are looked through; of more the index is asked for each resource. */
const FEW_HELD = 8;

function heldEffects({ open, openIndex }: ConversationState): readonly ExclusiveEffect[] {
  if (openIndex.heldCount === 0) return NOTHING_HELD;
  const effects: ExclusiveEffect[] = [];
  trieVisit(open, ({ held, call }) => {
    if (held !== null) effects.push(...call.exclusive);
    return false;
  });
  return effects;
}

function mayBeHeld({ held }: Asked, resource: string): boolean {
  return held.length > FEW_HELD || held.some((effect) => effect.resource === resource);
}

/** The resource itself, and those that stand for it. */
function onOneThing(asked: Asked): Finding | null {
  const { call, effect } = asked;
  const { resource } = effect;
  const own = standing(asked, resource, false);
  if (own !== null) return conflict(call, effect, own, [resource]);
  const { graph } = call.policy;
  for (const equal of graph.equalsOf(resource)) {
    const holder = standing(asked, equal, false);
    if (holder === null) continue;
    return conflict(call, effect, holder, graph.pathToEqual(resource, equal).toReversed());
  }
  return null;
}

function onWholes(asked: Asked): Finding | null {
  const { call, effect } = asked;
  const { graph } = call.policy;
  const wholes = effect.wholes ?? pathPrefixes(effect.resource);
  for (const whole of wholes) {
    const holder = standing(asked, whole, true);
    if (holder === null) continue;
    return conflict(call, effect, holder, graph.pathToWhole(effect.resource, whole).toReversed());
  }
  return null;
}

function onParts(asked: Asked): Finding | null {
  const { call, effect } = asked;
  if (!removes(effect.kind)) return null;
  const { state, policy } = call;
  const parts = trieGet(state.effectIndex.parts, effect.resource);
  const found: string[] = [];
  const look = (part: string): boolean => {
    if (standing(asked, part, true) !== null) found.push(part);
    return false;
  };
  if (parts !== undefined) trieVisit(parts, look);
  if (found.length === 0) {
    for (const { resource, wholes } of asked.held) {
      if ((wholes ?? pathPrefixes(resource)).includes(effect.resource)) look(resource);
    }
  }
  // The first by name: they come in no order, and a state that was restored must name the same one.
  const part = found.sort()[0];
  const holder = part === undefined ? null : standing(asked, part, true);
  if (part === undefined || holder === null) return null;
  return conflict(call, effect, holder, policy.graph.pathToWhole(part, effect.resource));
}

/** What an effect there conflicts with; `tree`: it holds the other resource, or lies in it. */
function standing(asked: Asked, resource: string, tree: boolean): EffectHolder | null {
  const { call, effect } = asked;
  const { effects, effectIndex } = call.state;
  const holder = mayStand(effectIndex, resource) ? trieGet(effects, resource)?.[0] : undefined;
  if (holder !== undefined && counts(effect, holder, tree) && conflicts(call, effect, holder)) {
    return holder;
  }
  const held = mayBeHeld(asked, resource) ? heldHolder(call, resource) : undefined;
  return held !== undefined && counts(effect, held, tree) ? held : null;
}

function counts(effect: ExclusiveEffect, holder: EffectHolder, tree: boolean): boolean {
  return !tree || removes(effect.kind) || removes(holder.kind);
}

/** Of these a whole does not survive, nor does what lies in it. */
function removes(kind: string): boolean {
  return kind === "delete" || kind === "transfer";
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
  const open = latestHeld(call.state, heldEffectKey(resource), call.decisionId);
  const effect = open?.call.exclusive.find((other) => other.resource === resource);
  if (open === undefined || effect === undefined) return undefined;
  const { decisionId, callId, tool, actionKey, n, atMs } = open;
  const { kind, wholes } = effect;
  return { decisionId, callId, tool, kind, actionKey, n, atMs, status: "held", wholes };
}

/** `way`: from the resource of the earlier call to that of this one. */
function conflict(
  call: CallContext,
  effect: ExclusiveEffect,
  holder: EffectHolder,
  way: readonly string[],
): Finding {
  // Named by arguments, so by the model: bounded as those are, and marked as data.
  const resources = way.map((one) => escapeHidden(cutText(one, LIMITS.shownArguments)));
  const resource = escapeHidden(cutText(effect.resource, LIMITS.shownArguments));
  const { callId, decisionId, tool, atMs, status } = holder;
  return finding({
    reason: "side_effect_conflict",
    rule: effect.rule,
    disposition: "ask_user",
    detail: `\`${tool}\` (call ${quoteId(callId)}) already had this effect on ${quoteText(resources[0] ?? "")}.`,
    earlier: { callId, decisionId, tool, atMs, status },
    conflict: { resource, path: [tool, ...resources, call.proposal.tool] },
    resolution: "confirmation",
  });
}
