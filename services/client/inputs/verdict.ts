/** A program's verdicts on held calls, and the errors for verdicts that change nothing. */
import type { GateEvent, IgnoredWhy } from "../../core/events.ts";
import { MANUAL_GRANT_CALLS_MAX, type VerdictInput } from "../../core/inputs.ts";
import { speakerProblem } from "../../core/speaker.ts";
import { CallgateError } from "../api/callgate-error.ts";
import type { Approval } from "../api/gate-types.ts";
import type { JournaledCall } from "../journal/recent-calls.ts";
import { memberProblem } from "./check-options.ts";

export type HoldVerdict = "approve" | "deny" | "cancel";

export function verdictInput(
  kind: HoldVerdict,
  call: JournaledCall,
  approvalId: string,
  verdict: Approval,
): VerdictInput {
  const problem = verdictProblem(verdict);
  if (problem !== undefined) throw new CallgateError("invalid_input", problem);
  const further = furtherCalls(call, verdict);
  return {
    type: "verdict",
    kind,
    tenantId: call.tenantId,
    conversationId: call.conversationId,
    approvalId,
    decisionId: null,
    outcome: null,
    tier: null,
    ...further,
    by: verdict.by,
    reason: verdict.reason ?? null,
    ...(call.about === null ? {} : { about: call.about }),
  };
}

/** Without this check, a misspelled `untilMs` would grant calls without an end. */
function verdictProblem(verdict: Approval): string | undefined {
  const unknown =
    memberProblem(verdict, ["by", "reason", "further"]) ??
    (verdict.further === undefined ? undefined : memberProblem(verdict.further, FURTHER));
  if (unknown !== undefined) return `the verdict cannot be given: ${unknown}`;
  if (typeof verdict.by !== "string" || verdict.by.trim() === "") {
    return "a verdict must say who gives it: pass `by`";
  }
  const unspeakable = speakerProblem(verdict.by);
  if (unspeakable !== undefined) return `the verdict cannot be given: ${unspeakable}`;
  return isValidReason(verdict.reason) ? undefined : `the verdict cannot be given: ${WRONG_REASON}`;
}

export function isValidReason(reason: unknown): boolean {
  if (reason === undefined || reason === null) return true;
  return typeof reason === "string" && reason.length <= REASON_CHARACTERS;
}

/** A generous bound: nobody reads a longer reason. */
const REASON_CHARACTERS = 16_384;
export const WRONG_REASON = `\`reason\` must be text of at most ${REASON_CHARACTERS} characters`;

/** The largest time that records can hold. */
const TIME_MAX_MS = 2 ** 52 - 1;

const FURTHER = ["calls", "untilMs"];

const THIS_CALL = { tool: null, calls: null, untilMs: null };

/** The further calls that an approval grants. */
function furtherCalls({ tool }: JournaledCall, { further }: Approval) {
  if (further === undefined) return THIS_CALL;
  const { calls = 1, untilMs = null } = further;
  if (
    calls !== "any" &&
    !(Number.isInteger(calls) && calls > 0 && calls <= MANUAL_GRANT_CALLS_MAX)
  ) {
    const what = `a whole number from 1 to ${MANUAL_GRANT_CALLS_MAX}, or \`any\``;
    throw new CallgateError("invalid_input", `\`further.calls\` must be ${what}`);
  }
  const problem = untilProblem(untilMs, "further.untilMs");
  if (problem !== undefined) throw new CallgateError("invalid_input", problem);
  return { tool, calls: calls === "any" ? null : calls, untilMs };
}

/** What is wrong with the end of a grant; undefined: nothing, or the grant has no end. */
export function untilProblem(untilMs: number | null, name: string): string | undefined {
  if (untilMs === null) return undefined;
  if (!(Number.isInteger(untilMs) && untilMs <= TIME_MAX_MS)) {
    return `\`${name}\` must be a whole number of ms that is at most ${TIME_MAX_MS}`;
  }
  return untilMs > Date.now() ? undefined : `\`${name}\` must be in the future`;
}

export function verdictIgnored(event: GateEvent | undefined, approvalId: string): CallgateError {
  if (event?.type !== "ignored") return unknownApproval(approvalId);
  if (event.why === "reason_required") {
    return new CallgateError(
      "reason_required",
      "the policy requires a reason with this approval: pass `reason`",
    );
  }
  if (event.why === "approvals_required") {
    return new CallgateError(
      "invalid_input",
      "the tier requires several approvals, and each call needs its own: leave out `further`",
    );
  }
  if (event.why === "already_decided") {
    return new CallgateError(
      "unknown_approval",
      `this person has already approved \`${approvalId}\`: \`by\` must be somebody else`,
    );
  }
  if (event.why === "self_approval") {
    return new CallgateError(
      "self_approval",
      "an agent cannot approve its own call: `by` must be somebody else",
    );
  }
  if (OTHER_SUBJECT.includes(event.why)) {
    return new CallgateError(
      "unknown_approval",
      `the call that waits under \`${approvalId}\` is not the one that was reviewed`,
    );
  }
  return unknownApproval(approvalId);
}

const OTHER_SUBJECT: readonly IgnoredWhy[] = ["wrong_call", "wrong_action", "wrong_rule"];

export function unknownApproval(approvalId: string): CallgateError {
  return new CallgateError(
    "unknown_approval",
    `no call is held under \`${approvalId}\`: it was answered, has expired, or was held anew`,
  );
}
