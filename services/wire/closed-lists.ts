/**
 * The closed lists behind Avro strings: reasons, kinds and statuses. They are strings in the schema
 * so that foreign readers, which ignore the `logicalType` that names the list, can read a new word.
 * Callgate's own processes, clients too, refuse a word that is not on the list: they are upgraded
 * before the gates that write it.
 */
import { cutText } from "../core/cut-text.ts";
import type {
  CallStatus,
  Disposition,
  IgnoredWhy,
  OnFailure,
  Raised,
  Resolution,
  VerdictRuled,
} from "../core/events.ts";
import {
  type EnvelopeRejection,
  FAILURE_EFFECTS,
  type FailureEffect,
  RESULT_STATUSES,
  type ResultStatus,
  STATUS_BASES,
  type StatusBasis,
  VERDICT_KINDS,
  type VerdictInput,
  type VerdictKind,
} from "../core/inputs.ts";
import { REASON_CODES, type ReasonCode } from "../core/reasons/reasons.ts";
import { QUARANTINE_CODES, type QuarantineCode } from "../runtime/journal.ts";
import { INPUT_TOPICS, type InputTopic } from "../runtime/topics.ts";
import { UndecodableError } from "./reader.ts";

const SHOWN_CHARACTERS = 40;

/** Requires every member of a union of strings as a key: the compiler reports a missing one. */
type Complete<T extends string> = { readonly [member in T]: true };

export type ClosedList<T extends string> = {
  readonly what: string;
  readonly members: ReadonlySet<string>;
  /** Never set; it carries the type. */
  readonly type?: T;
};

function listOf<T extends string>(what: string, members: Complete<T>): ClosedList<T> {
  return { what, members: new Set(Object.keys(members)) };
}

function listFrom<T extends string>(what: string, members: readonly T[]): ClosedList<T> {
  return { what, members: new Set(members) };
}

/**
 * The text as a member of the list.
 *
 * @throws UndecodableError where it is not on the list.
 */
export function member<T extends string>(list: ClosedList<T>, text: string): T {
  if (list.members.has(text)) return text as T;
  throw new UndecodableError(
    `\`${cutText(text, SHOWN_CHARACTERS)}\` is not a ${list.what} that is known here`,
  );
}

/** Like `member`, for a text that may be absent. */
export function optionalMember<T extends string>(
  list: ClosedList<T>,
  text: string | null,
): T | null {
  return text === null ? null : member(list, text);
}

export const REASON_WORDS: ClosedList<ReasonCode> = listFrom("reason", REASON_CODES);

export const STATUSES: ClosedList<ResultStatus> = listFrom("result status", RESULT_STATUSES);

export const KINDS: ClosedList<VerdictKind> = listFrom("verdict kind", VERDICT_KINDS);

export const TOPICS: ClosedList<InputTopic> = listFrom("input topic", INPUT_TOPICS);

export const QUARANTINES: ClosedList<QuarantineCode> = listFrom("quarantine", QUARANTINE_CODES);

export const CALL_STATUSES = listOf<CallStatus>("call status", {
  in_flight: true,
  held: true,
  succeeded: true,
  failed: true,
  not_executed: true,
  unknown: true,
});

export const DISPOSITIONS = listOf<Disposition>("disposition", {
  use_previous_result: true,
  change_approach: true,
  wait: true,
  ask_user: true,
  stop: true,
});

export const RESOLUTIONS = listOf<Resolution["type"]>("resolution", {
  retry_after: true,
  approval: true,
  confirmation: true,
  new_turn: true,
  none: true,
});

export const ENDS = listOf<NonNullable<Raised["ended"]>>("end", { turn: true, conversation: true });

export const ON_FAILURE = listOf<OnFailure>("rule of a failed effect", {
  conflict: true,
  warn: true,
  free: true,
});

export const FAILURE_EFFECT_LIST: ClosedList<FailureEffect> = listFrom("effect", FAILURE_EFFECTS);

export const BASES: ClosedList<StatusBasis> = listFrom("basis of a status", STATUS_BASES);

export const OUTCOMES = listOf<NonNullable<VerdictInput["outcome"]>>("outcome", {
  succeeded: true,
  failed: true,
  not_executed: true,
});

/** What an approval applies to. */
export const SCOPES = listOf<"this_call" | "this_tool">("scope", {
  this_call: true,
  this_tool: true,
});

export const RULINGS = listOf<VerdictRuled["kind"]>("ruling", {
  approve: true,
  grant: true,
  revoke: true,
  resume: true,
  end: true,
});

export const REJECTIONS = listOf<EnvelopeRejection["reason"]>("rejection", {
  malformed: true,
  too_large: true,
  misrouted: true,
  unauthenticated: true,
  overloaded: true,
});

export const IGNORED_INPUTS: ClosedList<"result" | VerdictKind> = listFrom("ignored input", [
  "result",
  ...VERDICT_KINDS,
]);

export const IGNORED_WHY = listOf<IgnoredWhy>("cause", {
  unknown_call: true,
  unknown_approval: true,
  already_decided: true,
  already_reported: true,
  reason_required: true,
  approvals_required: true,
  self_approval: true,
  not_unknown: true,
  wrong_call: true,
  wrong_action: true,
  wrong_rule: true,
  unknown_conversation: true,
  unknown_grant: true,
  not_supported: true,
});

/** The lists by the logical type that names them in a schema. */
export const LISTS: ReadonlyMap<string, ClosedList<string>> = new Map<string, ClosedList<string>>([
  ["callgate-reason", REASON_WORDS],
  ["callgate-result-status", STATUSES],
  ["callgate-call-status", CALL_STATUSES],
  ["callgate-disposition", DISPOSITIONS],
  ["callgate-resolution", RESOLUTIONS],
  ["callgate-end", ENDS],
  ["callgate-on-failure", ON_FAILURE],
  ["callgate-failure-effect", FAILURE_EFFECT_LIST],
  ["callgate-outcome", OUTCOMES],
  ["callgate-ruling", RULINGS],
  ["callgate-ignored-input", IGNORED_INPUTS],
  ["callgate-ignored-why", IGNORED_WHY],
]);
