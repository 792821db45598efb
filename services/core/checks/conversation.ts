/** Check 5: what the ladder (or an operator) has switched on for the conversation. */
import { NO_FLAGS } from "../state/state.ts";
import { type CallContext, type Finding, finding, NOTHING } from "./check.ts";

export function checkConversation(call: CallContext): readonly Finding[] {
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
  if (flags.userInputRequired) {
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
 * `explicit`: another call goes on once the model has said that it goes another way. What it says and
 * is no such word is a strike of the loop that it is asked about; where nothing is said, it is none.
 */
function unacknowledged(call: CallContext, asked: string): readonly Finding[] {
  const { policy, proposal, actionKey, wasHeld } = call;
  if (policy.acknowledgement !== "explicit" || wasHeld || actionKey === asked) return NOTHING;
  const text = proposal.assistantText ?? "";
  if (text !== "" && policy.acknowledges(text)) return NOTHING;
  return [askForWord(text === "" ? null : asked)];
}

/** Last of all: the refused call itself, which nothing else refuses any more, is no other way. */
export function checkAcknowledged(call: CallContext): readonly Finding[] {
  const { policy, state, actionKey, covered, wasHeld } = call;
  const asked = state.flags.acknowledge;
  if (policy.acknowledgement !== "explicit" || wasHeld || covered) return NOTHING;
  return asked === actionKey ? [askForWord(null)] : NOTHING;
}

function askForWord(strikeKey: string | null): Finding {
  return finding({
    reason: "acknowledgement_required",
    rule: "acknowledgement",
    disposition: "change_approach",
    strikeKey,
  });
}
