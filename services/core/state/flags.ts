/** What escalation switches on when a call is refused. */
import type { CallRefused, Raised } from "../events.ts";
import { REASONS } from "../reasons/reasons.ts";
import type { Flags } from "./state.ts";

export function flagsAfter(flags: Flags, event: CallRefused, raised: Raised): Flags {
  return {
    userInputRequired: flags.userInputRequired || raised.userInput,
    stoppedTool: raised.userInput ? stoppedBy(flags, event) : flags.stoppedTool,
    ended: raised.ended ?? flags.ended,
    acknowledge: askedAbout(flags, event, raised),
  };
}

/** A loop of reads stops its own tool, one of writes or of two tools every call. */
function stoppedBy(flags: Flags, { call, policy, refusal }: CallRefused): string | null {
  if (!policy.isRead) return null;
  if (flags.userInputRequired) return flags.stoppedTool === call.tool ? call.tool : null;
  return REASONS[refusal.reason].isStrike === true ? call.tool : null;
}

/** The call that the model must respond to: a text that acknowledges nothing does not change it. */
function askedAbout({ acknowledge }: Flags, event: CallRefused, raised: Raised): string | null {
  if (!raised.acknowledgement) return acknowledge;
  return event.refusal.reason === "acknowledgement_required"
    ? acknowledge
    : event.arguments.actionKey;
}
