/** The reasons that no check gives: for a call that cannot be judged, and for the gate itself. */
import type { ReasonRow } from "./reason-row.ts";

/** The steps before the checks, in this order. */
export const ENTRY_ORDER = ["envelope", "redelivery", "tool", "arguments"] as const;

export const ENTRY_REASONS = {
  malformed: {
    row: "envelope",
    mode: "always",
    group: "input",
    usesBudget: true,
    keepsNoName: true,
    modelText:
      "This call was not run because it could not be read: it is not valid, strict JSON, or a required field is missing or has the wrong type. Write the call again as valid JSON with each key once.",
    cause:
      "The proposal or its arguments did not parse under the strict rules; the message names the place. Usually a client builds JSON by hand.",
    remedy: "Build the JSON with a library, each key once.",
  },
  too_large: {
    row: "envelope",
    mode: "always",
    group: "input",
    usesBudget: true,
    keepsNoName: true,
    modelText:
      "This call was not run because its arguments are larger, more deeply nested, or have more keys than is allowed. Send less in one call, for example by splitting the content or by referring to it by name.",
    cause:
      "The proposal is over a limit of size, depth or number of keys; the message names which.",
    remedy: "Send less, or raise `limits.arguments_bytes` of the policy.",
  },
  misrouted: {
    row: "envelope",
    mode: "always",
    group: "gate",
    keepsNoName: true,
    keepsNoState: true,
    modelText:
      "This call was not run because it reached the wrong part of the system. This is not your mistake and calling again will not help; tell the user that the tool cannot be reached right now.",
    cause:
      "The record was forwarded to the partition of its conversation, and a gate that counts partitions differently read it there.",
    remedy:
      "Let all gates of an installation see the same topics; `callgate doctor` names topics whose numbers of partitions differ.",
  },
  unauthenticated: {
    row: "envelope",
    mode: "always",
    group: "gate",
    keepsNoName: true,
    keepsNoState: true,
    modelText:
      "This call was not run because the platform did not vouch for it. This is not your mistake and calling again will not help; tell the user that the tool cannot be reached right now.",
    cause:
      "The gate takes signed proposals alone (`gate.proposals: signed`), and the record's `callgate-token` is missing, expired, not verifiable, or contradicts the payload; the message says which.",
    remedy: "Hand the agent a token for its turn, and check the keys in `gate.proposalKeys`.",
  },
  overloaded: {
    row: "envelope",
    mode: "always",
    group: "gate",
    isRetryable: true,
    keepsNoName: true,
    keepsNoState: true,
    modelText:
      "This call was not run because the system has as many open conversations as it can serve and cannot begin another one now. This is not your mistake. Make the very same call again after the wait; if it is refused again, tell the user that the system is busy.",
    cause:
      "The gate is at a bound (`limits.conversations`, `limits.conversationsPerTenant` or `limits.stateBytes`; the message names it), and the proposal would begin a conversation. Conversations that have begun go on.",
    remedy:
      "Find out with `callgate tail` who begins so many conversations, and stop them. If they are wanted, raise the bound, or let conversations lapse sooner with `conversation.idle_ms`.",
  },
  call_id_conflict: {
    row: "redelivery",
    mode: "always",
    group: "gate",
    keepsNoName: true,
    modelText:
      "This call was not run because its call id already belongs to a different call in this step. If you still need it, make the call again under a new call id; the earlier call is not affected.",
    cause: "Two different calls carry one (turn, step, callId). The first stands.",
    remedy: "Let the platform give each call an id of its own.",
  },
  unknown_tool: {
    row: "tool",
    mode: "enforce",
    group: "permission",
    usesBudget: true,
    modelText:
      "This tool is not one that may be called here. Check the name, and use only the tools you were given.",
    cause: "The policy neither describes the tool nor matches it by a tier.",
    remedy: "Add it to `tool_schemas` or to a tier, or set `unknown_tools`.",
  },
  killed: {
    row: "tool",
    mode: "always",
    group: "permission",
    usesBudget: true,
    modelText:
      "This call was not run because an operator has switched it off. Do not try again or work around it; tell the user that it is unavailable at the moment.",
    cause: "The kill switch of the policy names this tool, agent or tenant, or everything.",
    remedy:
      "Remove the name from the `kill` block: the next revision of the policy lets the call through.",
  },
  invalid_arguments: {
    row: "arguments",
    mode: "enforce",
    group: "input",
    usesBudget: true,
    modelText:
      "This call was not run because its arguments do not fit what the tool accepts. Every problem is listed with its path; correct all of them and make the call again.",
    cause:
      "The arguments fail the tool's `input_schema`, a normalizer could not do its work, or a placeholder of an exclusive effect has no value. The problems name each path.",
    remedy:
      "If the arguments are right, correct the schema or the normalizer; else nothing is to be done, the model corrects them.",
  },
} as const satisfies Readonly<Record<string, ReasonRow<(typeof ENTRY_ORDER)[number]>>>;

export const GATE_REASONS = {
  internal_error: {
    row: "gate",
    mode: "always",
    group: "gate",
    modelText:
      "This call was not run because the gate itself failed while looking at it. This is not your mistake. Go on without it if you can, or tell the user that it could not be done.",
    cause: "A check threw while deciding; the call was refused and the partition went on.",
    remedy: "Find the error in the log, and report it.",
  },
  gate_unavailable: {
    row: "gate",
    mode: "always",
    group: "gate",
    isRetryable: true,
    modelText:
      "The gate gave no answer, so it is not known yet whether this call may run. Wait a moment and make the very same call once more; if there is still no answer, tell the user that it could not be checked.",
    cause:
      "Made by clients only, never journaled: the gate is restoring, does not own the partition, has no policy, is closed, or did not answer in time; `detail` says which.",
    remedy: "Propose again under the same call id: that is safe.",
  },
} as const satisfies Readonly<Record<string, ReasonRow<"gate">>>;
