/**
 * The closed, versioned list of reason codes: nothing else ever appears as a reason. Texts may be
 * reworded, codes never change meaning. `schemas/reasons.json` and `docs/reason-codes.md` are
 * written from it.
 */
import { CHECK_ORDER, CHECK_REASONS } from "./check-reasons.ts";
import { ENTRY_ORDER, ENTRY_REASONS, GATE_REASONS } from "./gate-reasons.ts";
import type { ReasonRow } from "./reason-row.ts";

const ROWS = { ...ENTRY_REASONS, ...CHECK_REASONS, ...GATE_REASONS };

export type ReasonCode = keyof typeof ROWS;

export const REASONS: Readonly<Record<ReasonCode, ReasonRow<ReasonCheck>>> = ROWS;

export const REASON_CODES = Object.keys(ROWS) as unknown as readonly [ReasonCode, ...ReasonCode[]];

/**
 * The sources of reasons, in the order in which a call passes them; `gate` is outside that order.
 */
export const REASON_CHECKS = [...ENTRY_ORDER, ...CHECK_ORDER, "gate"] as const;

export type ReasonCheck = (typeof REASON_CHECKS)[number];

/** How a reason is applied: refuse, allow with a note to the model, record only, or skip. */
export type Mode = "enforce" | "warn" | "shadow" | "off";

/**
 * Concerns an earlier call that failed and may have taken effect: how to find out, and who can
 * settle it.
 */
export const DOUBT_SENTENCE =
  "Find out with a read whether it did. The doubt ends when whoever ran the call reports what became of it, or an operator settles it with `reconcile`.";

export function isReasonCode(text: string): text is ReasonCode {
  return Object.hasOwn(ROWS, text);
}

/** A policy that names such a code in `checks` is refused. */
export function isAlwaysEnforced(code: ReasonCode): boolean {
  return REASONS[code].mode === "always";
}
