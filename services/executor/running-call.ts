/** A call from the log as it runs here, and the fields that log messages have of it. */

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

/** What somebody who reconciles by hand needs to find the call. Never its arguments or output. */
export function namesOf(call: ReportedCall & { readonly tool?: string }): LogFields {
  const { tenantId, conversationId, callId, decisionId, tool } = call;
  const names = { tenantId, conversationId, callId, decisionId };
  return tool === undefined ? names : { ...names, tool };
}

/** Only the name of a foreign error: its text may contain the tool's arguments or output. */
export function causeOf(error: unknown): LogFields {
  if (error instanceof PipelineError) return { code: error.code, message: error.message };
  return { message: error instanceof Error ? error.name : typeof error };
}
