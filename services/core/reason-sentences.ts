/**
 * What each reason is called, who gives it and how it is told. `schemas/reasons.json` is the same
 * list as data for other languages; a test keeps the two equal.
 */
import type { ReasonCode } from "./reasons.ts";

/** The checks in their order (docs/engine.md); `gate` stands for reasons outside that order. */
export const CHECK_NAMES = [
  "envelope",
  "redelivery",
  "tool",
  "arguments",
  "conversation_state",
  "budgets",
  "duplicate",
  "near_duplicate",
  "side_effects",
  "loops",
  "tier",
  "gate",
] as const;

export type CheckName = (typeof CHECK_NAMES)[number];

export interface ReasonSentences {
  /** The check that gives the reason. */
  readonly check: CheckName;
  /** The same call, unchanged, may be proposed again after a wait and then be allowed. */
  readonly retryable: boolean;
  /**
   * For the model that proposed the call: what happened and what to do now. Complete sentences
   * that need nothing filled in; details of the case (paths, waits, earlier results) follow it.
   */
  readonly model: string;
  /** For whoever runs the gate: when the reason is given and where to look. */
  readonly operator: string;
}

/** Of an earlier call that failed and may have taken effect: how that is found out, and who ends the doubt. */
export const DOUBT_SENTENCE =
  "Find out with a read whether it did. The doubt ends when whoever ran the call reports what became of it, or an operator settles it with `reconcile`.";

/** Total over the reason codes; the texts may be reworded, the codes never change meaning. */
export const REASON_SENTENCES: { readonly [code in ReasonCode]: ReasonSentences } = {
  malformed: {
    check: "envelope",
    retryable: false,
    model:
      "This call was not run because it could not be read: it is not valid, strict JSON, or a required field is missing or has the wrong type. Write the call again as valid JSON with each key once.",
    operator:
      "The proposal or its arguments did not parse under the strict rules; the message names the place. Usually a client that builds JSON by hand.",
  },
  too_large: {
    check: "envelope",
    retryable: false,
    model:
      "This call was not run because its arguments are larger, more deeply nested, or have more keys than is allowed. Send less in one call, for example by splitting the content or by referring to it by name.",
    operator:
      "The proposal is over a limit of size, depth or key count; the message names which. `limits.arguments_bytes` of the policy sets the size.",
  },
  misrouted: {
    check: "envelope",
    retryable: false,
    model:
      "This call was not run because it reached the wrong part of the system. This is not your mistake and calling again will not help; tell the user that the tool cannot be reached right now.",
    operator:
      "The record's key does not name its conversation, or lies on a partition that its key does not hash to (murmur2). Check the producer's key and partitioner.",
  },
  unauthenticated: {
    check: "envelope",
    retryable: false,
    model:
      "This call was not run because the platform did not vouch for it. This is not your mistake and calling again will not help; tell the user that the tool cannot be reached right now.",
    operator:
      "The gate takes signed proposals alone (`gate.proposals: signed`), and the record's `callgate-token` is missing, expired, not verifiable, or contradicts the payload; the message says which. Hand the agent a token for its turn, and check the keys in `gate.proposalKeys`.",
  },
  call_id_conflict: {
    check: "redelivery",
    retryable: false,
    model:
      "This call was not run because its call id already belongs to a different call in this step. If you still need it, make the call again under a new call id; the earlier call is not affected.",
    operator:
      "Two different calls carry one (turn, step, callId). The first stands. Check that the platform gives each call its own id.",
  },
  unknown_tool: {
    check: "tool",
    retryable: false,
    model:
      "This tool is not one that may be called here. Check the name, and use only the tools you were given.",
    operator:
      "The policy neither describes the tool nor matches it by a tier. Add it to `tool_schemas` or a tier, or set `unknown_tools`.",
  },
  killed: {
    check: "tool",
    retryable: false,
    model:
      "This call was not run because an operator has switched it off. Do not try again or work around it; tell the user that it is unavailable at the moment.",
    operator:
      "The kill switch of the policy covers this tool, agent or tenant, or everything. It lifts with a revision whose `kill` block no longer does.",
  },
  invalid_arguments: {
    check: "arguments",
    retryable: false,
    model:
      "This call was not run because its arguments do not fit what the tool accepts. Every problem is listed with its path; correct all of them and make the call again.",
    operator:
      "The arguments fail the tool's `input_schema`, a normalizer could not do its work, or an exclusive effect's placeholder has no value. The problems name each path.",
  },
  conversation_ended: {
    check: "conversation_state",
    retryable: false,
    model:
      "This task has been ended, so no further tool calls will run. Stop calling tools and tell the user what was done, what was not, and why it stopped.",
    operator:
      "The ladder's last rung or an `end` verdict closed the run. The next turn lifts it unless `end` lasts for the conversation; a `resume` verdict always does.",
  },
  user_input_required: {
    check: "conversation_state",
    retryable: false,
    model:
      "No tool calls will run until the user has answered. Stop calling tools now: tell the user what you tried, what stands in the way, and what you need from them.",
    operator:
      "The ladder reached `user_input` for this conversation. The next turn or a `resume` verdict lifts it.",
  },
  acknowledgement_required: {
    check: "conversation_state",
    retryable: false,
    model:
      "Your previous call was refused, and the gate is waiting for you to take that into account. Say briefly what you will do differently, then make a different call.",
    operator:
      "The ladder asks for an acknowledgement (`acknowledgement.mode`) and this proposal is none: the same action again, or text that matches no pattern.",
  },
  budget_steps: {
    check: "budgets",
    retryable: false,
    model:
      "This call was not run because you have used all the steps allowed for this task. Answer the user now with what you already know, and say what is left to do.",
    operator: "`max_steps` is used up for the turn, conversation or tool that the rule names.",
  },
  budget_calls: {
    check: "budgets",
    retryable: false,
    model:
      "This call was not run because you have used all the tool calls allowed for this task. Answer the user now with what you already know, and say what is left to do.",
    operator: "`max_tool_calls` is used up for the turn, conversation or tool that the rule names.",
  },
  budget_seconds: {
    check: "budgets",
    retryable: false,
    model:
      "This call was not run because the time allowed for this task is over. Answer the user now with what you already know, and say what is left to do.",
    operator:
      "`max_seconds` of gate time have passed since the turn's first proposal, time held for approval not counted.",
  },
  budget_spend: {
    check: "budgets",
    retryable: false,
    model:
      "This call was not run because it would cost more than may still be spent on this task. Answer the user with what you already know, or ask whether the cost is worth it to them.",
    operator:
      "The call's estimated cost is above what is left of `max_spend`, reservations of calls in flight included.",
  },
  duplicate_call: {
    check: "duplicate",
    retryable: false,
    model:
      "You already made this exact call and it succeeded, so it was not run again. Use the result you have (it is repeated with this message where it can be) and go on from there instead of calling again.",
    operator:
      "Same tool and same identity as an earlier call that succeeded, within the window, and nothing written since that could change it. Declare the tool `repeatable` or `volatile` if repeats are meant.",
  },
  duplicate_in_flight: {
    check: "duplicate",
    retryable: true,
    model:
      "You already made this exact call and it is still running or waiting for approval, so it was not started a second time. Wait for its result; if you must ask again, do so after the time given.",
    operator:
      "The earlier, identical call has no result yet. If executors never report, it becomes `outcome_unknown` at its deadline.",
  },
  outcome_unknown: {
    check: "duplicate",
    retryable: false,
    model:
      "You already made this exact call, but it is not known whether it took effect, so it was not run again: a repeat might do it twice. Check with a read whether it happened, or ask the user how to go on.",
    operator:
      "The identical write was started and never reported. Settle it with a `reconcile` verdict, a late result, or a user's confirmation.",
  },
  retry_exhausted: {
    check: "duplicate",
    retryable: false,
    model:
      "You already made this exact call and it failed; it may not be tried again as it is. Read the earlier error, then change the arguments, use another way, or tell the user what failed.",
    operator:
      "The identical call failed permanently, or `retries.max_attempts` are used up. Anything written since allows it again.",
  },
  retry_too_soon: {
    check: "duplicate",
    retryable: true,
    model:
      "This exact call failed a moment ago and may be tried again, but not yet. Wait for the time given, or do something else in the meantime.",
    operator: "The back-off of `retries.backoff_ms` after a transient failure is not over.",
  },
  history_full: {
    check: "duplicate",
    retryable: false,
    model:
      "This call was not run because the conversation has made more changes than can be kept track of safely. Reading still works; finish with what is done and tell the user that the rest needs a new conversation.",
    operator:
      "A bound on remembered writes, effects or open calls is reached; writes are never forgotten inside their window. Old entries leave with time.",
  },
  near_duplicate: {
    check: "near_duplicate",
    retryable: false,
    model:
      "This call is almost the same as one you already made that succeeded. If it was meant as the same, use the earlier result; if it was meant as a change, make clear what is different.",
    operator:
      "A field of the tool's `similarity` block is above its threshold against an earlier call, with the fields in `with` equal.",
  },
  side_effect_conflict: {
    check: "side_effects",
    retryable: false,
    model:
      "This call was not run because another call in this conversation already did this to the same thing, and it may happen only once. Do not try it another way; use the earlier call's outcome, or ask the user to confirm that it should happen again.",
    operator:
      "An exclusive effect on this resource is already taken in the conversation; `conflict` names resource, earlier tool and path. Only a confirmation or an approval lets a second one through.",
  },
  loop_repeat: {
    check: "loops",
    retryable: false,
    model:
      "You keep making this exact call and keep getting the same answer. Calling again will not change it. Use the answer you have, try something different, or ask the user.",
    operator:
      "`loop_threshold` identical calls since anything changed that they may depend on. Declare the tool `polling` if waiting like this is meant.",
  },
  loop_cycle: {
    check: "loops",
    retryable: false,
    model:
      "You are going round the same few calls without getting anywhere. Step back: say what you have learned so far, then do something you have not tried, or ask the user.",
    operator:
      "A period of two to five different calls came round `loops.cycle_rounds` times; its calls are refused until there is progress.",
  },
  loop_no_progress: {
    check: "loops",
    retryable: false,
    model:
      "Your recent calls of this tool all returned the same thing although the arguments differed: no new information is coming from it. Try another tool or approach, or tell the user what you could not find.",
    operator: "`no_progress_threshold` calls of one tool in the turn had one and the same output.",
  },
  loop_rotation: {
    check: "loops",
    retryable: false,
    model:
      "You have been repeating the same small set of calls and nothing new has come back for a while. Sum up what you know, then try something new or ask the user.",
    operator:
      "The calls of `loops.rotation` come from few different actions, with no new output in the latter half.",
  },
  failure_streak: {
    check: "loops",
    retryable: false,
    model:
      "This exact call has failed again and again with the same error. It will fail again: read the error, change what causes it, or tell the user what stands in the way.",
    operator:
      "An identical call failed as often as `loops.failure_streak` allows, with one error, and nothing was written since.",
  },
  failure_run: {
    check: "loops",
    retryable: false,
    model:
      "Your recent calls keep failing. Stop and look for the common cause before calling again, or tell the user what is not working.",
    operator:
      "`loops.failure_run` failures of one tool with one error, or of any tools in a row. Often the tool server is down.",
  },
  tool_frequency: {
    check: "loops",
    retryable: true,
    model:
      "This tool is being called too often. Wait for the time given before calling it again, or go on with something else.",
    operator:
      "The tool's `frequency`, or the `min_interval_ms` of its `polling` block, is exceeded in this conversation.",
  },
  tier_denied: {
    check: "tier",
    retryable: false,
    model:
      "You are not permitted to use this tool here. Do not look for a way around this; tell the user that it is not allowed, or reach the goal with the tools you may use.",
    operator: "The strictest tier or risk level that covers the tool says `deny`.",
  },
  rate_limited: {
    check: "tier",
    retryable: true,
    model:
      "Too many calls of this kind were made in a short time. Wait for the time given before calling again.",
    operator: "The `rate_limit` of the tool's tier is used up for this conversation.",
  },
  grant_exceeded: {
    check: "tier",
    retryable: false,
    model:
      "You have used up what you were granted of this kind of call in this conversation. Tell the user what is left to do, and ask whether you may go on.",
    operator:
      "The `ceiling` of the tier's grant is used up or its time to live is over. A `grant` verdict gives more where the tier takes one.",
  },
  approval_required: {
    check: "tier",
    retryable: false,
    model:
      "This call needs a person's approval and is waiting for it; it has not run yet. Do not make it again: tell the user that it awaits approval, and go on with what does not depend on it.",
    operator: "The call is held under a `hitl` tier. Approve or deny it by its approval id.",
  },
  approval_denied: {
    check: "tier",
    retryable: false,
    model:
      "A person looked at this call and said no, so it was not run. Do not make it again or work around it; tell the user, and ask how they would like to go on.",
    operator: "The hold was denied or cancelled; the decision names by whom and with what reason.",
  },
  approval_expired: {
    check: "tier",
    retryable: false,
    model:
      "This call needed a person's approval and nobody answered in time, so it was not run. Tell the user; if it is still wanted, they can ask for it again.",
    operator:
      "The hold passed its `expires_ms` without enough approvals. Expiry is always a refusal.",
  },
  internal_error: {
    check: "gate",
    retryable: false,
    model:
      "This call was not run because the gate itself failed while looking at it. This is not your mistake. Go on without it if you can, or tell the user that it could not be done.",
    operator:
      "A check threw while deciding; the call was refused and the partition went on. The log has the error: please report it.",
  },
  gate_unavailable: {
    check: "gate",
    retryable: true,
    model:
      "The gate gave no answer, so it is not known yet whether this call may run. Wait a moment and make the very same call once more; if there is still no answer, tell the user that it could not be checked.",
    operator:
      "Made by clients only, never journaled: the gate is restoring, does not own the partition, has no policy, is closed, or did not answer in time; `detail` says which. Proposing again under the same call id is safe.",
  },
};
