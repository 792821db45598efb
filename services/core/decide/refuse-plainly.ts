/**
 * Refuses a call without climbing the escalation ladder, using up a budget or naming an earlier call:
 * a rejected envelope, a name that another call has, a held call that is denied or has expired, a
 * refusal before the checks while a verdict is decided, and a defect of the gate. A proposal that is
 * refused before the checks for its tool or arguments goes through `refuse-early.ts`, which counts it.
 */
import { cutText } from "../cut-text.ts";
import { describeDuration } from "../describe-duration.ts";
import type { CallRefused, Disposition, Refusal } from "../events.ts";
import { escapeHidden, joinSentences, quoteTicks } from "../hidden-text.ts";
import type { ProposalInput } from "../inputs.ts";
import { LIMITS } from "../limits.ts";
import type { CompiledPolicy } from "../policy/compiled.ts";
import type { ReasonCode } from "../reasons/reasons.ts";
import { REASONS } from "../reasons/reasons.ts";
import { type DecisionDraft, draftDecision } from "./draft-decision.ts";
import { type IdentifiedCall, nameCall } from "./name-call.ts";

export interface PlainRefusal {
  readonly reason: ReasonCode;
  readonly rule: string;
  readonly disposition: Disposition;
  readonly detail: string | null;
  readonly problems?: Refusal["problems"];
  readonly suggestedNext?: readonly string[];
  /** When the same call may be proposed again, in ms; absent: no time is known. */
  readonly retryAfterMs?: number;
  readonly userMessage?: string;
}

/** A refusal that names no earlier call. */
export function refusePlainly(draft: DecisionDraft, plain: PlainRefusal): CallRefused {
  const row = REASONS[plain.reason];
  const { retryAfterMs = null } = plain;
  return Object.assign(draft, {
    type: "refused",
    refusal: {
      reason: plain.reason,
      message: joinSentences([
        row.modelText,
        plain.detail,
        waitSentence(retryAfterMs),
        ...problemLines(plain.problems),
      ]),
      duplicate: false,
      note: null,
      rule: plain.rule,
      level: 0,
      count: 0,
      retryable: row.isRetryable === true,
      disposition: plain.disposition,
      previousCall: null,
      previousResult: null,
      conflict: null,
      resolution: {
        type: retryAfterMs === null ? "none" : "retry_after",
        retryAfterMs,
        approvalId: null,
      },
      suggestedNext: plain.suggestedNext ?? [],
      problems: shownProblems(plain.problems),
      earlierResults: null,
      userMessage: plain.userMessage ?? null,
    },
    strike: null,
    raised: null,
    cycle: null,
    counted: false,
    denial: null,
    answered: null,
  } as const);
}

export function waitSentence(retryAfterMs: number | null): string | null {
  return retryAfterMs === null ? null : `Wait at least ${describeDuration(retryAfterMs)}.`;
}

/** Problems as a model may see them: hidden characters are escaped. */
export function shownProblems(problems: Refusal["problems"] | undefined): Refusal["problems"] {
  return (problems ?? []).map(({ path, message }) => ({
    path: escapeHidden(path),
    message: escapeHidden(message),
  }));
}

export function problemLines(problems: Refusal["problems"] | undefined): string[] {
  return (problems ?? []).map(({ path, message }) => `${quoteTicks(path)}: ${message}.`);
}

/** Fails closed: a defect refuses the call, and the partition goes on. */
export function internalError(
  fresh: boolean,
  proposal: ProposalInput,
  policy: CompiledPolicy,
  nowMs: number,
  what: string,
): CallRefused {
  const identifiedCall = nameSafely(proposal, policy);
  const draft = draftDecision(undefined, proposal, identifiedCall, policy, {
    at: nowMs,
    proposals: nowMs,
  });
  draft.conversation.fresh = fresh;
  return refusePlainly(draft, {
    reason: "internal_error",
    rule: "gate",
    disposition: "stop",
    detail: `Detail for the operator: ${cutText(what, LIMITS.shownError)}.`,
  });
}

/** Takes the call's id as the name where not even a digest can be made. */
function nameSafely(
  proposal: ProposalInput,
  policy: CompiledPolicy,
): Pick<IdentifiedCall, "text" | "argumentsDigest" | "decisionId"> {
  try {
    return nameCall(proposal, policy);
  } catch {
    return { text: "", argumentsDigest: "", decisionId: `unread:${proposal.callId}` };
  }
}
