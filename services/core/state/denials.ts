/**
 * Remembers what people have denied in a conversation, so that nobody asks them the same again at
 * once.
 */
import type { CallHeld } from "../events.ts";
import { LIMITS } from "../limits.ts";

export interface RememberedDenial {
  readonly tool: string;
  readonly actionKey: string;
  /** Null: not declared, so the call might have touched anything. */
  readonly resources: readonly string[] | null;
  /** The turn of the denial. */
  readonly turnIndex: number;
  /** When the hold would have ended (gate time, ms): the denial is remembered until then. */
  readonly untilMs: number;
  readonly by: string;
  readonly reason: string | null;
  /** The rule that held the call, and the terms of the hold. */
  readonly rule: string;
  readonly expiresMs: number;
  readonly requireReason: boolean;
  readonly approvals: number;
}

export function denialOf(
  held: CallHeld,
  by: string,
  reason: string | null,
  turnIndex: number,
): RememberedDenial {
  return {
    tool: held.call.tool,
    actionKey: held.arguments.actionKey,
    resources: held.facts.resources,
    turnIndex,
    untilMs: held.expiresAtMs,
    by,
    reason,
    rule: held.rule,
    expiresMs: held.expiresAtMs - held.times.atMs,
    requireReason: held.requireReason,
    approvals: held.approvals,
  };
}

/** A later denial of the same action replaces an earlier one. */
export function withDenial(
  denials: readonly RememberedDenial[],
  denial: RememberedDenial,
  nowMs: number,
): readonly RememberedDenial[] {
  const others = denials.filter(
    ({ actionKey, untilMs }) => actionKey !== denial.actionKey && untilMs > nowMs,
  );
  return [...others, denial].slice(-LIMITS.denials);
}
