/** A call of the log as it is run here, and as the log tells of it. */

import { type ExecutableCall, stepName } from "../client/calls/run-call.ts";
import { argumentsWithKey } from "../client/decisions/decision-view.ts";
import type { ReportedCall } from "../client/inputs/report.ts";
import type { JsonObject } from "../core/canonical/json-value.ts";
import { PipelineError } from "../runtime/errors.ts";
import { conversationKey } from "../runtime/partitioner.ts";
import type { LogFields } from "../runtime/ports.ts";
import type { AllowedCall } from "../wire/output-records.ts";

export type RunningCall = ExecutableCall & ReportedCall;

export function callOf(allowed: AllowedCall): RunningCall {
  const { decisionId, tenantId, conversationId, idempotencyKey } = allowed;
  const { callId, tool, turn, step } = allowed.call;
  const args = JSON.parse(allowed.arguments.text) as JsonObject;
  return {
    ...{ decisionId, callId, tool, tenantId, conversationId, idempotencyKey },
    isRead: allowed.policy.isRead,
    conversation: conversationKey(tenantId, conversationId),
    step: stepName(turn, step),
    arguments: argumentsWithKey(args, allowed.idempotencyArgument, idempotencyKey),
    notAfterMs: allowed.notAfterMs,
    timeLimitMs: allowed.timeLimitMs,
  };
}

/** Who reconciles by hand needs to find it. Never what it was given, or gave. */
export function namesOf(call: ReportedCall & { readonly tool?: string }): LogFields {
  const { tenantId, conversationId, callId, decisionId, tool } = call;
  const names = { tenantId, conversationId, callId, decisionId };
  return tool === undefined ? names : { ...names, tool };
}

/** Of an error that is not ours the name alone: its text may hold what the tool was given, or gave. */
export function causeOf(error: unknown): LogFields {
  if (error instanceof PipelineError) return { code: error.code, message: error.message };
  return { message: error instanceof Error ? error.name : typeof error };
}
