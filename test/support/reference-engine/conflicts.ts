// The check `side_effects` of the reference engine: exclusive effects that are in force.
import type { ExclusiveEffect, OnFailure } from "../../../services/core/events.ts";
import type { Question } from "./checks.ts";
import { byOrder, type Call } from "./history.ts";

/**
 * For each effect in force that this call wants: whether it only warns, since the call that has it
 * failed.
 */
export function conflictFindings(question: Question): boolean[] {
  if (question.meant) return [];
  const { asked, history } = question;
  const earlier = history.calls
    .filter((call) => call.kind !== "held" || call.decisionId !== asked.decisionId)
    .filter((call) => call.status !== "not_executed")
    .filter((call) => call.status !== "failed" || call.effect === "possible")
    .sort(byOrder);
  const taken = new Set(earlier.flatMap((call) => call.exclusive.map(({ resource }) => resource)));
  const stands = [...taken].map((resource) => ({ resource, calls: effectsOn(earlier, resource) }));
  return asked.exclusive.flatMap((effect): boolean[] => {
    const isTakenBy = (weight: "conflict" | "warn"): boolean =>
      stands.some(({ resource, calls }) => isTaken(question, effect, resource, calls, weight));
    if (isTakenBy("conflict")) return [false];
    return isTakenBy("warn") ? [true] : [];
  });
}

interface EffectOf {
  readonly call: Call;
  readonly kind: string;
  readonly onFailure: OnFailure;
}

function effectsOn(calls: readonly Call[], resource: string): EffectOf[] {
  return calls.flatMap((call) =>
    call.exclusive
      .filter((other) => other.resource === resource)
      .map(({ kind, onFailure }) => ({ call, kind, onFailure })),
  );
}

/**
 * The latest held call on the resource counts whatever its kind. Of allowed calls the latest that
 * did not fail counts, and those after it that failed and may have had the effect, each by its own
 * rule.
 */
function isTaken(
  question: Question,
  effect: Effect,
  resource: string,
  there: readonly EffectOf[],
  weight: "conflict" | "warn",
): boolean {
  const { asked } = question;
  const held =
    weight === "warn" ? undefined : there.filter(({ call }) => call.kind === "held").at(-1);
  if (held !== undefined && isRelated(question, effect, { resource, kind: held.kind })) return true;
  const latestFirst = there.filter(({ call }) => call.kind === "allowed").reverse();
  const sure = latestFirst.findIndex(({ call }) => call.status !== "failed");
  const retry = latestFirst.findIndex(
    ({ call }) => call.status === "failed" && call.actionKey === asked.actionKey,
  );
  const looked = retry >= 0 && (sure < 0 || retry < sure) ? retry : sure < 0 ? Infinity : sure + 1;
  return latestFirst.slice(0, looked).some((holder) => {
    const own = holder.call.status === "failed" ? holder.onFailure : "conflict";
    if (own !== weight) return false;
    if (!isRelated(question, effect, { resource, kind: holder.kind })) return false;
    const undoes = `${holder.kind} ${effect.kind}`;
    if (undoes === "create delete" || undoes === "delete create") return false;
    return holder.call.actionKey !== asked.actionKey || !asked.tool.repeatable;
  });
}

type Effect = Pick<ExclusiveEffect, "resource" | "kind">;

/**
 * Whether they are one resource, or one contains the other and either is deleted or transferred.
 */
function isRelated({ policy }: Question, a: Effect, b: Effect): boolean {
  const { graph } = policy;
  const equal = graph.equalsOf(a.resource).includes(b.resource);
  if (a.resource === b.resource || equal) return true;
  const isIn = (part: Effect, whole: Effect) =>
    graph.listAncestors(part.resource).includes(whole.resource);
  const removed = [a.kind, b.kind].some((kind) => kind === "delete" || kind === "transfer");
  return removed && (isIn(a, b) || isIn(b, a));
}
