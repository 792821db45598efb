/** Refuses calls of a conversation that the ladder or an operator has stopped. */
import { NO_FLAGS } from "../state/state.ts";
import { type CallContext, defineCheck, type Finding, finding, NOTHING } from "./check.ts";
import type { ExplainedCall } from "./explain-row.ts";

export const conversationCheck = defineCheck("conversation", {
  find: findStop,
  row: { rule: () => "escalation", value: showStrikes },
});

function findStop(call: CallContext): readonly Finding[] {
  const { flags } = call.state;
  if (flags === NO_FLAGS) return NOTHING;
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
  if (flags.userInputRequired && !call.tool.asksUser) {
    return [
      finding({
        reason: "user_input_required",
        rule: "escalation.user_input",
        disposition: "ask_user",
        resolution: "new_turn",
      }),
    ];
  }
  return flags.acknowledge === null ? NOTHING : unacknowledged(call, flags.acknowledge);
}

/**
 * Under `explicit` another call may run once the model has said that it will try something else. A
 * text that says something different is a strike of the loop that the model was asked about; the
 * absence of a text is none.
 */
function unacknowledged(call: CallContext, asked: string): readonly Finding[] {
  const { policy, proposal, actionKey, wasHeld } = call;
  if (policy.acknowledgement !== "explicit" || wasHeld || actionKey === asked) return NOTHING;
  const text = proposal.assistantText ?? "";
  if (text !== "" && policy.acknowledges(text)) return NOTHING;
  return [askForAcknowledgement(text === "" ? null : asked)];
}

export function askForAcknowledgement(strikeKey: string | null): Finding {
  return finding({
    reason: "acknowledgement_required",
    rule: "acknowledgement",
    disposition: "change_approach",
    strikeKey,
  });
}

function showStrikes({ state }: ExplainedCall): string {
  const strikes = (state?.strikes ?? []).reduce((most, { count }) => Math.max(most, count), 0);
  return strikes === 0 ? "no strikes" : `${strikes} strikes`;
}
