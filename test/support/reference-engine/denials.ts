// What a person denied, for as long as the denial is remembered.
import type { Call, History } from "./history.ts";

export function rememberDenial(
  history: History,
  call: Call,
  hold: NonNullable<Call["hold"]>,
): void {
  const others = history.denials.filter((one) => one.call.actionKey !== call.actionKey);
  const { expiresAtMs: untilMs, requireReason, approvals } = hold;
  const terms = { expiresMs: untilMs - call.heldAtMs, requireReason, approvals };
  history.denials = [...others, { call, turn: history.turns, untilMs, terms }];
}
