/**
 * Remembers what a person has denied. The same action is refused for the rest of the turn; another
 * form of it goes to a person, whatever its tier, and says what was denied. It runs before the
 * tier.
 */
import { cutText } from "../cut-text.ts";
import { LIMITS } from "../limits.ts";
import type { ResourceGraph } from "../policy/compiled.ts";
import type { RememberedDenial } from "../state/denials.ts";
import { type CallContext, defineCheck, type Finding, finding, NOTHING } from "./check.ts";

export const denialsCheck = defineCheck("denials", { find: findDenial });

function findDenial(call: CallContext): readonly Finding[] {
  if (isMeant(call)) return NOTHING;
  const denied = call.state.denials.find(
    (one) => one.actionKey === call.actionKey && isOfTurn(one, call),
  );
  if (denied === undefined) return NOTHING;
  return [
    finding({
      reason: "approval_denied",
      rule: denied.rule,
      disposition: "change_approach",
      detail: `It was denied before in this turn, and nobody is asked again. ${saidOf(denied)}`,
      strikeKey: call.actionKey,
      resolution: call.proposal.turn === null ? "none" : "new_turn",
    }),
  ];
}

/** What an approver has to know of a held call: a similar one was denied; null: none was. */
export function likeDenied(call: CallContext): string | null {
  const { denials } = call.state;
  if (denials.length === 0) return null;
  const likely = denials.filter(
    (one) => call.nowMs < one.untilMs && isOfTool(one, call) && touchesSame(one, call) !== false,
  );
  const denied = likely.findLast((one) => one.actionKey === call.actionKey) ?? likely.at(-1);
  return denied === undefined ? null : deniedBefore(denied);
}

/** Whether a person asked for this very call after the denial. */
export function isMeant({ state, isConfirmed, wasHeld }: CallContext): boolean {
  return state.denials.length === 0 || isConfirmed || wasHeld;
}

export function isOfTurn({ turnIndex, untilMs }: RememberedDenial, { state, nowMs }: CallContext) {
  return turnIndex === state.turn.index && nowMs < untilMs;
}

export function isOfTool({ tool }: RememberedDenial, call: CallContext): boolean {
  return tool === call.tool.name;
}

/** Null: one of the two does not declare what it touches. */
export function touchesSame({ resources }: RememberedDenial, call: CallContext): boolean | null {
  const own = call.facts.resources;
  if (resources === null || own === null) return null;
  const { graph } = call.policy;
  return own.some((one) => resources.some((other) => hangTogether(graph, one, other)));
}

/** Whether the resources are one, one contains the other, or both name one thing. */
function hangTogether(graph: ResourceGraph, a: string, b: string): boolean {
  if (a === b || graph.equalsOf(a).includes(b)) return true;
  return graph.listAncestors(a).includes(b) || graph.listAncestors(b).includes(a);
}

export function deniedBefore(denied: RememberedDenial): string {
  return `A call like it was denied a moment ago. ${saidOf(denied)}`;
}

/** Texts of people are quoted as data. */
function saidOf({ by, reason }: RememberedDenial): string {
  const name = JSON.stringify(cutText(by, LIMITS.shownError));
  if (reason === null) return `Denied by ${name}.`;
  return `Denied by ${name}, reason: ${JSON.stringify(cutText(reason, LIMITS.shownError))}.`;
}
