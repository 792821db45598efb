/** What a conflict says of a call with several resources, and of one whose name is the call that made it. */
import { cutText } from "../cut-text.ts";
import type { ExclusiveEffect } from "../events.ts";
import { joinSentences, quoteId, quoteText } from "../hidden-text.ts";
import type { CompiledTool } from "../policy/compiled.ts";
import { findMaker, hasMakerName } from "../state/made-by.ts";
import type { ConversationState } from "../state/state.ts";
import type { CallContext, Finding } from "./check.ts";

/** Elements that a refusal names, and the characters that it shows of each. */
const SHOWN = 12;
const SHOWN_CHARACTERS = 80;

/** The tool whose call gives the effect its name; null: the arguments name it. */
export function makerOf({ tool }: CallContext, { resource, rule }: ExclusiveEffect): string | null {
  if (!hasMakerName(resource)) return null;
  return tool.effects.find((effect) => effect.rule === rule)?.madeBy ?? null;
}

/** The resource as the arguments name it: of the effect before one that has its maker's name. */
export function plainResource({ facts }: CallContext, effect: ExclusiveEffect): string {
  if (!hasMakerName(effect.resource)) return effect.resource;
  return facts.exclusive[facts.exclusive.indexOf(effect) - 1]?.resource ?? effect.resource;
}

/**
 * Adds to the first conflict which elements of the call were done already, so that the model can leave them out.
 * `taken`: the effects that conflict, at least one.
 */
export function sayWhichElements(
  call: CallContext,
  taken: readonly ExclusiveEffect[],
  findings: readonly Finding[],
): readonly Finding[] {
  const rule = taken[0]?.rule;
  const all = namesUnder(call, call.facts.exclusive, rule);
  if (all.size < 2) return findings;
  const done = namesUnder(call, taken, rule);
  const first = findings.findIndex((finding) => !finding.warnsOnly);
  return findings.map((finding, at) => {
    if (at !== first) return finding;
    const detail = joinSentences([finding.detail, sayDone([...done], all.size)]);
    return done.size === all.size
      ? { ...finding, detail }
      : { ...finding, detail, disposition: "change_approach" };
  });
}

function namesUnder(
  call: CallContext,
  effects: readonly ExclusiveEffect[],
  rule: string | undefined,
): ReadonlySet<string> {
  const own = effects.filter((effect) => effect.rule === rule);
  return new Set(own.map((effect) => plainResource(call, effect)));
}

function sayDone(done: readonly string[], all: number): string {
  if (done.length === all) return `All ${all} parts of this call were done before.`;
  const shown = done.slice(0, SHOWN).map((one) => quoteText(cutText(one, SHOWN_CHARACTERS)));
  const others = done.length > SHOWN ? ` and ${done.length - SHOWN} more` : "";
  return `Of the ${all} parts of this call, ${done.length === 1 ? "this one was" : "these were"} done before: ${shown.join(", ")}${others}. Leave out what was done, and propose the rest.`;
}

/** For `policy explain`: whether some call made the resource. Empty: the effect names no maker. */
export function showMaker(
  { effects }: CompiledTool,
  state: ConversationState | undefined,
  { rule, resource }: ExclusiveEffect,
): string {
  const tool = effects.find((effect) => effect.rule === rule)?.madeBy ?? null;
  if (tool === null) return "";
  const maker = findMaker(state, tool, resource);
  return maker === null
    ? ` (by its id alone: no call of ${tool} in this conversation made it, or it was changed since)`
    : ` (once for all that equal calls of ${tool} made: call ${quoteId(maker.holder.callId)} made it)`;
}
