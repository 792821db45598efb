/** Check 5: what the ladder (or an operator) has switched on for the conversation. */
import { type CallContext, type Finding, finding, NOTHING } from "./check.ts";

export function checkConversation({ state }: CallContext): readonly Finding[] {
  const { flags } = state;
  if (flags.ended !== null) {
    return [
      finding({
        reason: "conversation_ended",
        rule: "escalation.end",
        disposition: "stop",
        resolution: flags.ended === "turn" ? "new_turn" : "none",
      }),
    ];
  }
  if (!flags.userInputRequired) return NOTHING;
  return [
    finding({
      reason: "user_input_required",
      rule: "escalation.user_input",
      disposition: "ask_user",
      resolution: "new_turn",
    }),
  ];
}
