/**
 * Writes that failed and may have taken effect. The state retains them so that a later report or a
 * person can settle what became of them.
 *
 * DOUBT-1 the state retains the latest such attempt of each action: its attempts share their key,
 * so a report that settles one settles all.
 * DOUBT-2 at the bound the oldest is dropped. It then stays in doubt forever: nothing frees its
 * resources.
 */
import type { FailureEffect } from "../inputs.ts";
import { LIMITS } from "../limits.ts";
import type { ConversationState, OpenCall, PriorCall, StateDraft } from "./state.ts";

export function findDoubt(
  { doubts }: Pick<ConversationState, "doubts">,
  decisionId: string | null,
): OpenCall | undefined {
  if (doubts.length === 0 || decisionId === null) return undefined;
  return doubts.find((call) => call.decisionId === decisionId);
}

/** DOUBT-1, DOUBT-2 */
export function addDoubt(state: StateDraft, call: OpenCall): void {
  const others = state.doubts.filter(({ actionKey }) => actionKey !== call.actionKey);
  state.doubts = [...others, call].slice(-LIMITS.doubts);
}

/** Removes and returns the attempt of the action that was in doubt. */
export function takeDoubt(state: StateDraft, actionKey: string): OpenCall | undefined {
  const taken = findDoubtOf(state, actionKey);
  if (taken !== undefined) state.doubts = state.doubts.filter((call) => call !== taken);
  return taken;
}

/** The attempt of the action that is in doubt, whatever turn it was made in. */
export function findDoubtOf(
  { doubts }: Pick<ConversationState, "doubts">,
  actionKey: string,
): OpenCall | undefined {
  return doubts.length === 0 ? undefined : doubts.find((call) => call.actionKey === actionKey);
}

export function isInDoubt(outcome: {
  readonly status: string;
  readonly effect: FailureEffect | null;
}): boolean {
  return outcome.status === "failed" && outcome.effect === "possible";
}

/**
 * Whether the execution of the call may have taken effect although none of its attempts succeeded.
 */
export function mayHaveActed(priorCall: PriorCall): boolean {
  const { status, trouble } = priorCall;
  return trouble.doubted || status === "unknown" || isPriorInDoubt(priorCall);
}

export function isPriorInDoubt({ status, trouble }: PriorCall): boolean {
  return isInDoubt({ status, effect: trouble.effect });
}
