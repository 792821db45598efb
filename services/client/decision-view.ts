/** From what the journal says to what programs get. */
import type { JsonObject } from "../core/canonical/json-value.ts";
import { cutText } from "../core/cut-text.ts";
import type { CallAllowed, CallHeld, DecisionEvent } from "../core/events.ts";
import { escapeHidden } from "../core/hidden-text.ts";
import { LIMITS } from "../core/limits.ts";
import type { ReasonCode } from "../core/reasons/reasons.ts";
import { REASONS } from "../core/reasons/reasons.ts";
import { argumentsWithKey } from "./arguments-with-key.ts";
import type { CallRefusal, Decision, UnavailableDetail } from "./gate-types.ts";

export type DecisionOptions = {
  /** The same proposal was decided before. */
  readonly repeated: boolean;
  readonly keyOf: (event: CallAllowed) => string | undefined;
  /** As they were sent; undefined where what is sealed of them cannot be opened. */
  readonly argumentsOf: (event: CallAllowed) => string | undefined;
};

/** Each written out: this runs for every call, and a spread costs more than all of the rest. */
export function decisionOf(event: DecisionEvent, options: DecisionOptions): Decision {
  const { decisionId, callId, tool, isRead } = event;
  const { repeated } = options;
  const warnings = shownWarnings(event.warnings);
  const args = event.arguments === "" ? null : (JSON.parse(event.arguments) as JsonObject);
  switch (event.type) {
    case "allowed":
      return event.sealed === undefined
        ? runnable(event, args ?? {}, warnings, options)
        : runnableSealed(event, args ?? {}, warnings, options);
    case "refused":
      return {
        outcome: "refused",
        decisionId,
        callId,
        tool,
        arguments: args,
        isRead,
        repeated,
        warnings,
        refusal: event.refusal,
      };
    case "held":
      return {
        outcome: "held",
        decisionId,
        callId,
        tool,
        arguments: args,
        isRead,
        repeated,
        warnings,
        refusal: heldRefusal(event),
        approvalId: event.holdId,
        expiresAt: event.expiresAtMs,
      };
  }
}

type Warnings = Decision["warnings"];

const NO_WARNINGS: Warnings = Object.freeze([]);

function shownWarnings(warnings: DecisionEvent["warnings"]): Warnings {
  if (warnings.length === 0) return NO_WARNINGS;
  return warnings.map(({ reason, message }) => ({ reason, message }));
}

/** Without its secret the call keeps its digests and has no key: nobody runs it. */
function runnableSealed(
  event: CallAllowed,
  digests: JsonObject,
  warnings: Warnings,
  options: DecisionOptions,
): Decision {
  const text = options.argumentsOf(event);
  if (text !== undefined) return runnable(event, JSON.parse(text), warnings, options);
  return runnable(event, digests, warnings, { ...options, keyOf: () => undefined });
}

function runnable(
  event: CallAllowed,
  args: JsonObject,
  warnings: Warnings,
  { repeated, keyOf }: DecisionOptions,
): Decision {
  const key = keyOf(event);
  const allowed = {
    outcome: "allowed",
    decisionId: event.decisionId,
    callId: event.callId,
    tool: event.tool,
    arguments: argumentsWithKey(args, event.idempotencyArgument, key),
    idempotencyKey: key ?? "",
    isRead: event.isRead,
    repeated,
    warnings,
    notAfter: event.notAfterMs,
    timeLimitMs: event.timeLimitMs,
  } as const;
  if (key !== undefined) return allowed;
  const { idempotencyKey: _unknown, ...keyless } = allowed;
  return keyless;
}

function heldRefusal(event: CallHeld): CallRefusal {
  const resolution = { type: "approval", retryAfterMs: null, approvalId: event.holdId } as const;
  return {
    ...plainRefusal(event.callId, event.tool, event.arguments, "approval_required"),
    decisionId: event.decisionId,
    message: event.message,
    rule: event.rule,
    policy: event.policy,
    disposition: "wait",
    resolution,
  };
}

/** A refusal that is made here; `text` is what is known of the arguments. */
function plainRefusal(
  callId: string,
  tool: string,
  text: string,
  reason: ReasonCode,
): Omit<CallRefusal, "decisionId"> {
  const sentences = REASONS[reason];
  return {
    schemaVersion: 1,
    callId,
    tool,
    arguments: escapeHidden(cutText(text, LIMITS.shownArguments)),
    reason,
    message: sentences.model,
    duplicate: false,
    note: null,
    rule: "client",
    policy: "",
    level: 0,
    count: 0,
    retryable: sentences.isRetryable === true,
    disposition: "wait",
    previousCall: null,
    previousResult: null,
    conflict: null,
    resolution: { type: "none", retryAfterMs: null, approvalId: null },
    suggestedNext: [],
    problems: [],
    known: null,
    userMessage: null,
  };
}

const ASK_AGAIN_MS = 1_000;

export type Unavailable = {
  readonly callId: string;
  readonly tool: string;
  readonly arguments: string;
  readonly detail: UnavailableDetail;
  /** Revision of the policy, as far as one is known. */
  readonly policy: string;
  readonly problem: string | undefined;
};

/** What a client says where the gate gave no decision. Never journaled. */
export function unavailable(call: Unavailable): Decision & { readonly refusal: CallRefusal } {
  const { callId, tool, detail, policy, problem } = call;
  const refusal: CallRefusal = {
    ...plainRefusal(callId, tool, call.arguments, "gate_unavailable"),
    policy,
    detail,
    ...(problem === undefined ? {} : { problem }),
    resolution: { type: "retry_after", retryAfterMs: ASK_AGAIN_MS, approvalId: null },
  };
  const decided = { callId, tool, arguments: null, isRead: false, repeated: false, warnings: [] };
  return { outcome: "refused", ...decided, refusal };
}

/** What a client says of an allowed call that it does not run (again). */
export function notRun(decision: Decision, reason: ReasonCode, policy: string): CallRefusal {
  const text = JSON.stringify(decision.arguments ?? {});
  const { callId, tool, decisionId } = decision;
  const refusal = { ...plainRefusal(callId, tool, text, reason), policy };
  return decisionId === undefined ? refusal : { ...refusal, decisionId };
}
