// What a person said no to, for as long as it is kept.
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
