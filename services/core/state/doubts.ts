/**
 * Writes that failed and may have taken effect. They are kept so that a later report or a person can
 * say what became of them.
 *
 * DOUBT-1 of one action the latest such attempt is kept: its attempts share their key, so what is settled
 *    about one of them is settled about all.
 * DOUBT-2 at the bound the oldest goes. It counts as in doubt for ever then: nothing is freed by it.
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

/** The attempt of the action that was in doubt; it is not any more. */
export function takeDoubt(state: StateDraft, actionKey: string): OpenCall | undefined {
  const taken = findDoubtOf(state, actionKey);
  if (taken !== undefined) state.doubts = state.doubts.filter((call) => call !== taken);
  return taken;
}

/** The attempt of the action that is in doubt, in whatever turn it was made. */
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

/** The execution of the call may have taken effect although none of its attempts succeeded. */
export function mayHaveActed(priorCall: PriorCall): boolean {
  return priorCall.doubted || priorCall.status === "unknown" || isInDoubt(priorCall);
}
