/**
 * Finds an exclusive effect that is in force already, whichever tool had it: on the same resource, on
 * one that names the same thing, and, of a delete or transfer, on its ancestors and what it contains.
 * Only declared exclusive effects conflict: writing one thing through several tools is ordinary work.
 * An effect of a call that failed and may have had it conflicts or warns as its `on_failure` says.
 */

import { trieGet, trieVisit } from "../../collections/trie.ts";
import { cutText } from "../cut-text.ts";
import type { EffectHolder, ExclusiveEffect } from "../events.ts";
import { escapeHidden, quoteId, quoteText } from "../hidden-text.ts";
import { LIMITS } from "../limits.ts";
import { DOUBT_SENTENCE } from "../reasons/reasons.ts";
import { mayStand, pathPrefixes } from "../state/effect-index.ts";
import { hasMakerName } from "../state/made-by.ts";
import { heldEffectKey, latestHeld } from "../state/open-calls.ts";
import type { ConversationState } from "../state/state.ts";
import { type CallContext, defineCheck, type Finding, finding, NOTHING } from "./check.ts";
import { isShownAbsent } from "./duplicate.ts";
import { makerOf, plainResource, sayWhichElements, showMaker } from "./effect-elements.ts";
import type { ExplainedCall } from "./explain-row.ts";

export const sideEffectsCheck = defineCheck("side_effects", {
  find: findConflicts,
  row: { rule: ({ rule }) => `${rule}.effects`, value: showEffects },
});

function findConflicts(call: CallContext): readonly Finding[] {
  if (call.facts.exclusive.length === 0 || call.isConfirmed) return NOTHING;
  const held = heldEffects(call.state);
  const findings: Finding[] = [];
  const taken: ExclusiveEffect[] = [];
  for (const effect of call.facts.exclusive) {
    const conflict =
      anywhere({ call, effect, held, weight: "conflict" }) ??
      (call.state.doubts.length === 0 && !effect.tenantWide
        ? null
        : anywhere({ call, effect, held: NOTHING_HELD, weight: "warn" }));
    if (conflict === null) continue;
    if (!conflict.warnsOnly) taken.push(effect);
    findings.push(conflict);
  }
  return taken.length === 0 ? findings : sayWhichElements(call, taken, findings);
}

function anywhere(asked: Asked): Finding | null {
  return onOneThing(asked) ?? findAncestorConflict(asked) ?? onParts(asked);
}

interface Asked {
  readonly call: CallContext;
  readonly effect: ExclusiveEffect;
  /** Exclusive effects of all held calls. */
  readonly held: readonly ExclusiveEffect[];
  /** Which holders count: those that conflict, or those that only warn. */
  readonly weight: "conflict" | "warn";
}

const NOTHING_HELD: readonly ExclusiveEffect[] = [];

/**
 * Up to this many held effects are compared one by one; beyond, the index is asked for each
 * resource.
 */
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

/** Looks at the resource itself and at those that `derives` makes equal to it. */
function onOneThing(asked: Asked): Finding | null {
  const { call, effect } = asked;
  const { resource } = effect;
  const own = findClaimant(asked) ?? findHolder(asked, resource, false);
  if (own !== null) return conflict(call, effect, own, [resource]);
  const { graph } = call.policy;
  for (const equal of graph.equalsOf(resource)) {
    const holder = findHolder(asked, equal, false);
    if (holder === null) continue;
    return conflict(call, effect, holder, graph.pathToEqual(resource, equal).toReversed());
  }
  return null;
}

function findAncestorConflict(asked: Asked): Finding | null {
  const { call, effect } = asked;
  const { graph } = call.policy;
  const ancestors = effect.ancestors ?? pathPrefixes(effect.resource);
  for (const whole of ancestors) {
    const holder = findHolder(asked, whole, true);
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
  const conflictingParts: string[] = [];
  const look = (part: string): boolean => {
    if (findHolder(asked, part, true) !== null) conflictingParts.push(part);
    return false;
  };
  if (parts !== undefined) trieVisit(parts, look);
  if (conflictingParts.length === 0) {
    for (const { resource, ancestors } of asked.held) {
      if ((ancestors ?? pathPrefixes(resource)).includes(effect.resource)) look(resource);
    }
  }
  // The first by name: they come in no order, and a restored state must name the same one.
  const part = conflictingParts.sort()[0];
  const holder = part === undefined ? null : findHolder(asked, part, true);
  if (part === undefined || holder === null) return null;
  return conflict(call, effect, holder, policy.graph.pathToWhole(part, effect.resource));
}

/** The holder, in any conversation of the tenant, that an effect with `scope: tenant` conflicts with. */
function findClaimant(asked: Asked): EffectHolder | null {
  const { call, effect, weight } = asked;
  if (!effect.tenantWide || call.claims === null) return null;
  const holders = call
    .claims(effect.resource, call.nowMs)
    .filter(({ decisionId }) => decisionId !== call.decisionId);
  const held = holders.find(isHeld);
  const others = held === undefined ? holders : holders.filter((holder) => !isHeld(holder));
  return conflicting(asked, others, false) ?? (weight === "conflict" ? (held ?? null) : null);
}

function isHeld({ status }: EffectHolder): boolean {
  return status === "held";
}

/** Whether a call of another conversation has the effect. */
function isOfAnother({ proposal }: CallContext, { claimant }: EffectHolder): boolean {
  return claimant !== null && claimant !== proposal.conversationId;
}

/**
 * The holder that an effect on the resource conflicts with; `tree`: the resource is an ancestor of
 * the call's, or contained in it.
 */
function findHolder(asked: Asked, resource: string, tree: boolean): EffectHolder | null {
  const { call, effect } = asked;
  const { effects, effectIndex } = call.state;
  const holders = mayStand(effectIndex, resource) ? trieGet(effects, resource) : undefined;
  // The claim has these, among those of other conversations that may have undone them.
  const isClaimed = !tree && effect.tenantWide && call.claims !== null;
  const counted = isClaimed ? holders?.filter(({ claimant }) => claimant === null) : holders;
  const holder = counted === undefined ? undefined : conflicting(asked, counted, tree);
  if (holder !== undefined) return holder;
  const held = mayBeHeld(asked, resource) ? heldHolder(call, resource) : undefined;
  return held !== undefined && counts(effect, held, tree) ? held : null;
}

/**
 * The latest call that did not fail counts, and those after it, which failed and may have had the
 * effect.
 */
function conflicting(
  { call, effect, weight }: Asked,
  holders: readonly EffectHolder[],
  tree: boolean,
): EffectHolder | undefined {
  for (const holder of holders) {
    const failed = holder.status === "failed";
    // This is a retry: the gate already judged the action when it allowed the first attempt.
    const isSame = holder.actionKey === call.actionKey && !isOfAnother(call, holder);
    if (failed && isSame) return undefined;
    const own = failed ? holder.onFailure : "conflict";
    const isMeant = own === weight && counts(effect, holder, tree);
    if (isMeant && conflicts(call, effect, holder)) return holder;
    if (!failed) return undefined;
  }
  return undefined;
}

function counts(effect: ExclusiveEffect, holder: EffectHolder, tree: boolean): boolean {
  return !tree || removes(effect.kind) || removes(holder.kind);
}

/** Whether the effect removes a resource together with everything contained in it. */
function removes(kind: string): boolean {
  return kind === "delete" || kind === "transfer";
}

function conflicts(call: CallContext, effect: ExclusiveEffect, holder: EffectHolder): boolean {
  const isOwn = holder.actionKey === call.actionKey;
  if (isOwn && (call.tool.repeatable || isShownAbsent(call, holder))) return false;
  return !undoes(effect.kind, holder.kind);
}

/** A creation after a deletion, or a deletion after a creation, conflicts with nothing. */
function undoes(kind: string, earlier: string): boolean {
  return (kind === "create" && earlier === "delete") || (kind === "delete" && earlier === "create");
}

function heldHolder(call: CallContext, resource: string): EffectHolder | undefined {
  const open = latestHeld(call.state, heldEffectKey(resource), call.decisionId);
  const effect = open?.call.exclusive.find((other) => other.resource === resource);
  if (open === undefined || effect === undefined) return undefined;
  const { decisionId, callId, tool, actionKey, n, atMs } = open;
  const { kind, ancestors, onFailure } = effect;
  return {
    decisionId,
    callId,
    tool,
    kind,
    actionKey,
    n,
    atMs,
    status: "held",
    ancestors,
    onFailure,
    claimant: null,
  };
}

/** `way`: the path from the resource of the earlier call to the resource of this one. */
function conflict(
  call: CallContext,
  effect: ExclusiveEffect,
  holder: EffectHolder,
  way: readonly string[],
): Finding {
  // Arguments name these, so a model does: they are as bounded as arguments are, and marked as
  // data.
  const maker = makerOf(call, effect);
  const own = plainResource(call, effect);
  const shownWay = maker === null ? way : [own];
  const resources = shownWay.map((one) => escapeHidden(cutText(one, LIMITS.shownArguments)));
  const resource = escapeHidden(cutText(own, LIMITS.shownArguments));
  const { callId, decisionId, tool, atMs, status } = holder;
  const isOther = isOfAnother(call, holder);
  return finding({
    reason: "side_effect_conflict",
    rule: effect.rule,
    disposition: "ask_user",
    detail: whatHappened(
      holder,
      isOther,
      maker === null
        ? quoteText(resources[0] ?? "")
        : `what an equal call of \`${maker}\` made: ${quoteText(resource)} is one with it`,
    ),
    warnsOnly: status === "failed" && holder.onFailure === "warn",
    // Nothing of it leads to the other conversation.
    earlier: isOther ? null : { callId, decisionId, tool, atMs, status },
    conflict: { resource, path: [tool, ...resources, call.proposal.tool] },
    resolution: "confirmation",
  });
}

function whatHappened(
  { tool, callId, status }: EffectHolder,
  isOther: boolean,
  resource: string,
): string {
  const call = `\`${tool}\` (${isOther ? "in another conversation" : `call ${quoteId(callId)}`})`;
  if (status !== "failed") return `${call} already had this effect on ${resource}.`;
  return `${call} failed and may have taken effect on ${resource}. ${DOUBT_SENTENCE}`;
}

function showEffects({ unenforced, tool, state }: ExplainedCall): string {
  if (unenforced.type !== "allowed") return "not known";
  const { exclusive, resources, more } = unenforced.facts;
  const pending = more?.pending ?? [];
  const plain = exclusive.filter(({ resource }) => !hasMakerName(resource));
  const said = [
    ...plain.map((effect) => `${effect.kind} ${effect.resource}${showMaker(tool, state, effect)}`),
    ...pending.map((effect) => `${effect.kind} ${effect.resource}`),
  ];
  if (pending.length > 0) return `${said.join(", ")}; the result names {result.…}`;
  if (exclusive.length > 0) return said.join(", ");
  if (resources === null) return "none declared";
  return `touches ${resources.join(", ")}, exclusive to nobody`;
}
