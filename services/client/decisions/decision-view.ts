/** Converts journaled decisions into what programs receive. */

import type { JsonObject } from "../../core/canonical/json-value.ts";
import type { CallAllowed, CallHeld, CallRefused, DecisionEvent } from "../../core/events.ts";
import { withKey, withoutKey } from "../../core/policy/key-argument.ts";
import { REASONS, type ReasonCode } from "../../core/reasons/reasons.ts";
import { shownArguments, shownText } from "../../core/shown-arguments.ts";
import type { CallRefusal, Decision, UnavailableDetail } from "../api/gate-types.ts";

export type DecisionOptions = {
  /** The same proposal was decided before. */
  readonly repeated: boolean;
  readonly keyOf: (event: CallAllowed) => string | undefined;
  /** Returns the arguments as they were sent; undefined if their sealed part cannot be opened. */
  readonly argumentsOf: (event: CallAllowed) => string | undefined;
};

/** Every member is written out: this runs for every call, and a spread costs more than the rest. */
export function decisionOf(event: DecisionEvent, options: DecisionOptions): Decision {
  const {
    decisionId,
    call: { callId, tool },
    policy: { isRead, revision: policyRevision },
  } = event;
  const { repeated } = options;
  const warnings = shownWarnings(event.notices.warnings);
  const args =
    event.arguments.text === "" ? null : (JSON.parse(event.arguments.text) as JsonObject);
  switch (event.type) {
    case "allowed":
      return event.arguments.sealed.length === 0
        ? runnable(event, args ?? {}, warnings, options)
        : runnableSealed(event, args ?? {}, warnings, options);
    case "refused":
      return {
        outcome: "refused",
        decisionId,
        policyRevision,
        callId,
        tool,
        arguments: args,
        isRead,
        repeated,
        warnings,
        answered: event.answered !== null,
        refusal: showRefusal(event),
      };
    case "held":
      return {
        outcome: "held",
        decisionId,
        policyRevision,
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

function shownWarnings(warnings: DecisionEvent["notices"]["warnings"]): Warnings {
  if (warnings.length === 0) return NO_WARNINGS;
  return warnings.map(({ reason, message }) => ({ reason, message }));
}

/** Without the secret the call has only digests and no key, so nobody can run it. */
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
    policyRevision: event.policy.revision,
    callId: event.call.callId,
    tool: event.call.tool,
    arguments: argumentsWithKey(args, event.idempotencyArgument, key),
    idempotencyKey: key ?? "",
    isRead: event.policy.isRead,
    repeated,
    warnings,
    notAfter: event.notAfterMs,
    timeLimitMs: event.timeLimitMs,
  } as const;
  if (key !== undefined) return allowed;
  const { idempotencyKey: _unknown, ...keyless } = allowed;
  return keyless;
}

function showRefusal(event: CallRefused): CallRefusal {
  const { callId, tool } = event.call;
  return {
    schemaVersion: 1,
    decisionId: event.decisionId,
    callId,
    tool,
    arguments: shownArguments(event),
    policy: event.policy.revision,
    ...event.refusal,
  };
}

function heldRefusal(event: CallHeld): CallRefusal {
  const { callId, tool } = event.call;
  const resolution = { type: "approval", retryAfterMs: null, approvalId: event.holdId } as const;
  return {
    ...plainRefusal(callId, tool, shownArguments(event), "approval_required"),
    decisionId: event.decisionId,
    message: event.message,
    rule: event.rule,
    policy: event.policy.revision,
    disposition: "wait",
    resolution,
  };
}

/** A refusal that the client makes; `shown` is what it has of the arguments. */
function plainRefusal(
  callId: string,
  tool: string,
  shown: string,
  reason: ReasonCode,
): Omit<CallRefusal, "decisionId"> {
  const row = REASONS[reason];
  return {
    schemaVersion: 1,
    callId,
    tool,
    arguments: shown,
    reason,
    message: row.modelText,
    duplicate: false,
    note: null,
    rule: "client",
    policy: "",
    level: 0,
    count: 0,
    retryable: row.isRetryable === true,
    disposition: "wait",
    previousCall: null,
    previousResult: null,
    conflict: null,
    resolution: { type: "none", retryAfterMs: null, approvalId: null },
    suggestedNext: [],
    problems: [],
    earlierResults: null,
    userMessage: null,
  };
}

const ASK_AGAIN_MS = 1_000;

export type Unavailable = {
  readonly callId: string;
  readonly tool: string;
  readonly arguments: string;
  readonly detail: UnavailableDetail;
  /** Revision of the policy, if one is available. */
  readonly policy: string;
  readonly problem: string | undefined;
};

/** The client's refusal if the gate gave no decision. Never journaled. */
export function unavailable(call: Unavailable): Decision & { readonly refusal: CallRefusal } {
  const { callId, tool, detail, policy, problem } = call;
  const refusal: CallRefusal = {
    ...plainRefusal(callId, tool, shownText(call.arguments), "gate_unavailable"),
    policy,
    detail,
    ...(problem === undefined ? {} : { problem }),
    resolution: { type: "retry_after", retryAfterMs: ASK_AGAIN_MS, approvalId: null },
  };
  const decided = {
    callId,
    tool,
    arguments: null,
    isRead: false,
    repeated: false,
    warnings: [],
    answered: false,
  };
  return { outcome: "refused", ...decided, refusal };
}

/** The client's refusal of an allowed call that it does not run (again). */
export function notRun(decision: Decision, reason: ReasonCode, policy: string): CallRefusal {
  const text = shownText(JSON.stringify(decision.arguments ?? {}));
  const { callId, tool, decisionId } = decision;
  const refusal = { ...plainRefusal(callId, tool, text, reason), policy };
  return decisionId === undefined ? refusal : { ...refusal, decisionId };
}

/**
 * The arguments for the tool. The argument that is declared to carry the key (a dotted path) holds
 * the gate's key, never what the model wrote there. If no object can hold it (the call was allowed
 * all the same), the arguments are passed on without a key.
 */
export function argumentsWithKey(
  args: JsonObject,
  idempotencyArgument: string | null,
  key: string | undefined,
): JsonObject {
  if (idempotencyArgument === null) return args;
  if (key === undefined) return withoutKey(args, idempotencyArgument);
  return withKey(args, idempotencyArgument, key);
}
