/**
 * The checks in their order, and the reasons that they give: one row for each reason. The check
 * `<name>` is `services/core/checks/<name>.ts`; a check without a reason of its own is a further
 * pass of another one. Everything else about reasons derives from these rows.
 */
import type { ReasonRow } from "./reason-row.ts";

/** The first check whose reason is enforced decides. */
export const CHECK_ORDER = [
  "conversation",
  "budgets",
  "duplicate",
  "history",
  "near_duplicate",
  "side_effects",
  "loops",
  "acknowledgement",
  "denials",
  "tier",
  "denied_forms",
] as const;

export type CheckName = (typeof CHECK_ORDER)[number];

export const CHECK_REASONS = {
  conversation_ended: {
    row: "conversation",
    mode: "enforce",
    group: "stop",
    modelText:
      "This task has been ended, so no further tool calls will run. Stop calling tools and tell the user what was done, what was not, and why it stopped.",
    cause: "The ladder's last level or an `end` verdict closed the run.",
    remedy:
      "Nothing, where the end is meant: the next turn lifts it, unless `end` lasts for the conversation. A `resume` verdict always lifts it.",
  },
  user_input_required: {
    row: "conversation",
    mode: "enforce",
    group: "stop",
    modelText:
      "No tool calls will run until the user has answered. Stop calling tools now: tell the user what you tried, what stands in the way, and what you need from them.",
    cause: "The ladder reached `user_input` for this conversation.",
    remedy: "Let the user answer: the next turn lifts it, and so does a `resume` verdict.",
  },
  acknowledgement_required: {
    row: "conversation",
    mode: "enforce",
    group: "stop",
    modelText:
      "Your previous call was refused, and the gate is waiting for you to take that into account. Say briefly what you will do differently, then make a different call.",
    cause:
      "The ladder asks for an acknowledgement (`acknowledgement.mode`) and this proposal is none: it is the same action again, or its text matches no pattern.",
    remedy:
      "Show the model the refusal, and check `acknowledgement.patterns` if its answers should count.",
  },
  budget_steps: {
    row: "budgets",
    mode: "enforce",
    group: "budget",
    modelText:
      "This call was not run because you have used all the steps allowed for this task. Answer the user now with what you already know, and say what is left to do.",
    cause: "`max_steps` is used up for the turn, conversation or tool that the rule names.",
    remedy: "Raise the limit, or start a new turn where the limit is one of the turn.",
  },
  budget_calls: {
    row: "budgets",
    mode: "enforce",
    group: "budget",
    modelText:
      "This call was not run because you have used all the tool calls allowed for this task. Answer the user now with what you already know, and say what is left to do.",
    cause: "`max_tool_calls` is used up for the turn, conversation or tool that the rule names.",
    remedy: "Raise the limit, or start a new turn where the limit is one of the turn.",
  },
  budget_seconds: {
    row: "budgets",
    mode: "enforce",
    group: "budget",
    modelText:
      "This call was not run because the time allowed for this task is over. Answer the user now with what you already know, and say what is left to do.",
    cause:
      "`max_seconds` of gate time have passed since the turn's first proposal; time in which calls were held for approval does not count.",
    remedy: "Raise the limit, or start a new turn.",
  },
  budget_spend: {
    row: "budgets",
    mode: "enforce",
    group: "budget",
    modelText:
      "This call was not run because it would cost more than may still be spent on this task. Answer the user with what you already know, or ask whether the cost is worth it to them.",
    cause:
      "The call's estimated cost is above what is left of `max_spend`; calls in flight have reserved theirs.",
    remedy: "Raise the limit, or give calls a smaller `estimatedCost` where it is too high.",
  },
  duplicate_call: {
    row: "duplicate",
    mode: "enforce",
    group: "repeat",
    isStrike: true,
    isOffWithDuplicates: true,
    modelText:
      "You already made this exact call and it succeeded, so it was not run again. Use the result you have (it is repeated with this message where it can be) and go on from there instead of calling again.",
    cause:
      "Same tool and same identity as an earlier call that succeeded, within the window, and nothing written since that could change it.",
    remedy: "Declare the tool `repeatable` or `volatile` if repeats are meant.",
  },
  duplicate_in_flight: {
    row: "duplicate",
    mode: "enforce",
    group: "repeat",
    isRetryable: true,
    isOffWithDuplicates: true,
    modelText:
      "You already made this exact call and it is still running or waiting for approval, so it was not started a second time. Wait for its result; if you must ask again, do so after the time given.",
    cause: "The earlier, identical call has no result yet.",
    remedy:
      "Let the executor report. A call that is never reported becomes `outcome_unknown` at its deadline.",
  },
  outcome_unknown: {
    row: "duplicate",
    mode: "enforce",
    group: "effect",
    isStrike: true,
    isOffWithDuplicates: true,
    modelText:
      "You already made this exact call, but it is not known whether it took effect, so it was not run again: a repeat might do it twice. Check with a read whether it happened, or ask the user how to go on.",
    cause: "The identical write was started and never reported.",
    remedy:
      "Find out whether it took effect, and settle it with a `reconcile` verdict, a late result, or a user's confirmation.",
  },
  retry_exhausted: {
    row: "duplicate",
    mode: "enforce",
    group: "repeat",
    isStrike: true,
    isFailure: true,
    modelText:
      "You already made this exact call and it failed; it may not be tried again as it is. Read the earlier error, then change the arguments, use another way, or tell the user what failed.",
    cause: "The identical call failed permanently, or `retries.max_attempts` are used up.",
    remedy:
      "Remove what made it fail: anything written since allows it again. Raise `retries.max_attempts` if more attempts are meant.",
  },
  retry_too_soon: {
    row: "duplicate",
    mode: "enforce",
    group: "rate",
    isRetryable: true,
    isFailure: true,
    modelText:
      "This exact call failed a moment ago and may be tried again, but not yet. Wait for the time given, or do something else in the meantime.",
    cause: "The back-off of `retries.backoff_ms` after a transient failure is not over.",
    remedy: "Wait, or shorten `retries.backoff_ms`.",
  },
  history_full: {
    row: "duplicate",
    mode: "enforce",
    group: "stop",
    modelText:
      "This call was not run because the conversation has made more changes than can be kept track of safely. Reading still works; finish with what is done and tell the user that the rest needs a new conversation.",
    cause:
      "A bound on remembered writes, effects or open calls is reached; writes are never forgotten inside their window.",
    remedy: "Start a new conversation, or wait: old entries leave with time. Reads still work.",
  },
  near_duplicate: {
    row: "near_duplicate",
    mode: "warn",
    group: "repeat",
    isStrike: true,
    modelText:
      "This call is almost the same as one you already made that succeeded. If it was meant as the same, use the earlier result; if it was meant as a change, make clear what is different.",
    cause:
      "A field of the tool's `similarity` block is above its threshold against an earlier call, with the fields in `with` equal.",
    remedy: "Raise the threshold, or add the argument that tells the calls apart to `with`.",
  },
  side_effect_conflict: {
    row: "side_effects",
    mode: "enforce",
    group: "effect",
    isStrike: true,
    modelText:
      "This call was not run because another call in this conversation already did this to the same thing, and it may happen only once. Do not try it another way; use the earlier call's outcome, or ask the user to confirm that it should happen again.",
    cause:
      "An exclusive effect on this resource is already taken in the conversation; `conflict` names resource, earlier tool and path.",
    remedy:
      "Confirm or approve the call if a second one is meant; set `exclusive: false` if the effect may happen often.",
  },
  loop_repeat: {
    row: "loops",
    mode: "enforce",
    group: "repeat",
    isStrike: true,
    modelText:
      "You keep making this exact call and keep getting the same answer. Calling again will not change it. Use the answer you have, try something different, or ask the user.",
    cause:
      "`loop_threshold` identical calls with one output, shortly after one another, since anything changed that they may depend on.",
    remedy:
      "Declare the tool `polling` if waiting like this is meant, or `volatile` if a pause of 10 seconds is enough.",
  },
  loop_cycle: {
    row: "loops",
    mode: "enforce",
    group: "repeat",
    isStrike: true,
    modelText:
      "You are going round the same few calls without getting anywhere. Step back: say what you have learned so far, then do something you have not tried, or ask the user.",
    cause:
      "A period of two to five different calls came round `loops.cycle_rounds` times, and the last round brought no new output; its calls are refused until there is progress.",
    remedy:
      "Raise `loops.cycle_rounds`, or declare which of the tools read and which are `repeatable`: only their outputs show that the rounds move.",
  },
  loop_no_progress: {
    row: "loops",
    mode: "warn",
    group: "repeat",
    isStrike: true,
    isOffWithDuplicates: true,
    modelText:
      "Your recent calls of this tool all returned the same thing although the arguments differed: no new information is coming from it. Try another tool or approach, or tell the user what you could not find.",
    cause: "`no_progress_threshold` calls of one tool in the turn had one and the same output.",
    remedy: "Set `empty_output` for a tool that never answers anything, or raise the threshold.",
  },
  loop_drift: {
    row: "loops",
    mode: "enforce",
    group: "repeat",
    isStrike: true,
    isOffWithDuplicates: true,
    modelText:
      "You keep changing the arguments, but nothing comes back that you have not seen already. More calls like this will not help: say what you know, try something of another kind, or ask the user.",
    cause:
      "As many different calls of one, two or three tools as `loops.drift` says failed, found nothing, or gave only outputs that the conversation had seen before, times and repeated arguments masked.",
    remedy:
      "Raise `loops.drift.refuse`, or write `off`. Set `empty_output` for a tool that never answers anything, or `polling` where waiting is meant.",
  },
  loop_rotation: {
    row: "loops",
    mode: "warn",
    group: "repeat",
    isStrike: true,
    modelText:
      "You have been repeating the same small set of calls and nothing new has come back for a while. Sum up what you know, then try something new or ask the user.",
    cause:
      "The calls of `loops.rotation` come from few different actions, with no new output in the latter half; or two or three tools passed a task to one another for four rounds.",
    remedy:
      "Change `loops.rotation.calls` or `loops.rotation.keys`, or declare a tool `polling` if it is asked again and again on purpose. Declare the `effects` of tools that do what they are asked in turn.",
  },
  failure_streak: {
    row: "loops",
    mode: "enforce",
    group: "repeat",
    isStrike: true,
    isFailure: true,
    modelText:
      "This exact call has failed again and again with the same error. Trying again at once will not help: read the error, change what causes it, or tell the user what stands in the way.",
    cause:
      "An identical call failed as often as `loops.failure_streak` allows, with one error, nothing was written since, and its pause is not over.",
    remedy:
      "Remove the cause of the error, or wait: after the pause the next try runs. Where failures should be tried again, write `retries`.",
  },
  failure_run: {
    row: "loops",
    mode: "warn",
    group: "repeat",
    isStrike: true,
    isFailure: true,
    modelText:
      "Your recent calls keep failing. Stop and look for the common cause before calling again, or tell the user what is not working.",
    cause: "`loops.failure_run` failures of one tool with one error, or of any tools in a row.",
    remedy: "Look whether the tool server is down.",
  },
  tool_frequency: {
    row: "loops",
    mode: "enforce",
    group: "rate",
    isRetryable: true,
    modelText:
      "This tool is being called too often. Wait for the time given before calling it again, or go on with something else.",
    cause:
      "The tool's `frequency`, or the `min_interval_ms` of its `polling` block, is exceeded in this conversation.",
    remedy: "Wait, or change the limit that the rule names.",
  },
  tier_denied: {
    row: "tier",
    mode: "enforce",
    group: "permission",
    usesBudget: true,
    modelText:
      "You are not permitted to use this tool here. Do not look for a way around this; tell the user that it is not allowed, or reach the goal with the tools you may use.",
    cause:
      "The strictest tier or risk level that covers the tool says `deny`, or nothing names a write and `authorization.default` does.",
    remedy: "Move the tool to another tier if it should be allowed.",
  },
  rate_limited: {
    row: "tier",
    mode: "enforce",
    group: "rate",
    isRetryable: true,
    modelText:
      "Too many calls of this kind were made in a short time. Wait for the time given before calling again.",
    cause: "The `rate_limit` of the tool's tier is used up for this conversation.",
    remedy: "Wait, or raise `rate_limit`.",
  },
  grant_exceeded: {
    row: "tier",
    mode: "enforce",
    group: "permission",
    modelText:
      "You have used up what you were granted of this kind of call in this conversation. Tell the user what is left to do, and ask whether you may go on.",
    cause: "The `ceiling` of the tier's grant is used up or its time to live is over.",
    remedy: "Give more with a `grant` verdict where the tier takes one, or raise `ceiling`.",
  },
  approval_required: {
    row: "tier",
    mode: "enforce",
    group: "permission",
    modelText:
      "This call needs a person's approval and is waiting for it; it has not run yet. Do not make it again: tell the user that it awaits approval, and go on with what does not depend on it.",
    cause: "The call is held under a `hitl` tier.",
    remedy: "Approve or deny it by its approval id.",
  },
  approval_denied: {
    row: "tier",
    mode: "always",
    group: "permission",
    usesBudget: true,
    modelText:
      "A person looked at this call and said no, so it was not run. Do not make it again or work around it; tell the user, and ask how they would like to go on.",
    cause: "The hold was denied or cancelled; the decision names by whom and with what reason.",
    remedy: "Nothing: the decision of a person stands. The user can ask again in a new turn.",
  },
  approval_expired: {
    row: "tier",
    mode: "always",
    group: "permission",
    modelText:
      "This call needed a person's approval and nobody answered in time, so it was not run. Tell the user; if it is still wanted, they can ask for it again.",
    cause: "The hold passed its `expires_ms` without enough approvals. Expiry is always a refusal.",
    remedy: "Answer holds sooner, or raise `expires_ms`.",
  },
} as const satisfies Readonly<Record<string, ReasonRow<CheckName>>>;
