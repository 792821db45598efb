/** Refuses calls of a conversation that the ladder or an operator has stopped. */
import { loopKeyOf } from "../state/recent-calls.ts";
import { NO_FLAGS } from "../state/state.ts";
import { type CallContext, defineCheck, type Finding, finding, NOTHING } from "./check.ts";
import { cycleKeyOf } from "./cycle.ts";
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
        userMessage:
          "This task was ended because the agent kept repeating itself; nothing more runs in it.",
        resolution: flags.ended === "turn" ? "new_turn" : "none",
      }),
    ];
  }
  if (flags.userInputRequired && isStopped(call)) {
    return [
      finding({
        reason: "user_input_required",
        rule: "escalation.user_input",
        disposition: "ask_user",
        resolution: "new_turn",
        strikeKey: loopOfCall(call),
        userMessage: "I stopped because I kept repeating myself, and need your answer to go on.",
      }),
    ];
  }
  return flags.acknowledge === null ? NOTHING : unacknowledged(call, flags.acknowledge);
}

/** A loop of reads stops the tool that was read, and no work with others. */
function isStopped({ state, tool }: CallContext): boolean {
  const { stoppedTool } = state.flags;
  return !tool.asksUser && (stoppedTool === null || stoppedTool === tool.name);
}

/**
 * The loop that the call goes on with in spite of the stop: then it is a strike of it, which may end the task.
 * Null: the call is another one.
 */
function loopOfCall({ state, actionKey, tool, proposal }: CallContext): string | null {
  const { agentId } = proposal;
  const cycle = state.cycle?.includes(loopKeyOf(actionKey, agentId)) === true ? state.cycle : null;
  const cycleKey = cycle === null ? [] : [cycleKeyOf(cycle)];
  const keys = [actionKey, ...cycleKey, `tool:${tool.name}`, "drift", "rotation"];
  const isStruck = (key: string): boolean =>
    state.strikes.some((strike) => strike.key === loopKeyOf(key, agentId));
  return keys.find(isStruck) ?? null;
}

/**
 * Under `explicit` another call may run once the model has said that it will try something else. Texts that
 * say something different are counted by themselves: however many duplicates came before, the right text
 * afterwards counts. The absence of a text is no strike.
 */
function unacknowledged(call: CallContext, asked: string): readonly Finding[] {
  const { policy, proposal, actionKey, wasHeld } = call;
  if (policy.acknowledgement !== "explicit" || wasHeld || actionKey === asked) return NOTHING;
  const text = proposal.assistantText ?? "";
  if (text !== "" && policy.acknowledges(text)) return NOTHING;
  return [askForAcknowledgement(text === "" ? null : "acknowledgement")];
}

export function askForAcknowledgement(strikeKey: string | null): Finding {
  return finding({
    reason: "acknowledgement_required",
    rule: "acknowledgement",
    disposition: "change_approach",
    strikeKey,
  });
}

function showStrikes({ state, policy }: ExplainedCall): string {
  const strikes = (state?.strikes ?? []).reduce((most, { count }) => Math.max(most, count), 0);
  const strikesText = strikes === 0 ? "no strikes" : `${strikes} strikes`;
  const tool = state?.flags.stoppedTool ?? null;
  const counted =
    tool === null
      ? strikesText
      : `${strikesText}; a loop of reads stops \`${tool}\` until the user answers, and no other tool`;
  const isAsked =
    policy.acknowledgement === "explicit" && (state?.flags.acknowledge ?? null) !== null;
  return isAsked
    ? `${counted}; another call runs once the model says what it will do differently, however late`
    : counted;
}
