/** Verdicts that a program gives on a held call, and what the gate says where one changes nothing. */
import type { GateEvent } from "../core/events.ts";
import type { VerdictInput } from "../core/inputs.ts";
import { CallgateError } from "./callgate-error.ts";
import type { Verdict } from "./gate-types.ts";
import type { KnownCall } from "./known-calls.ts";

export function verdictInput(
  kind: "approve" | "deny",
  call: KnownCall,
  approvalId: string,
  verdict: Verdict,
): VerdictInput {
  if (typeof verdict.by !== "string" || verdict.by === "") {
    throw new CallgateError("invalid_input", "a verdict must say who gives it: pass `by`");
  }
  return {
    type: "verdict",
    kind,
    tenantId: call.tenantId,
    conversationId: call.conversationId,
    approvalId,
    decisionId: null,
    outcome: null,
    tier: null,
    tool: null,
    calls: null,
    untilMs: null,
    by: verdict.by,
    reason: verdict.reason ?? null,
  };
}

export function verdictIgnored(event: GateEvent | undefined, approvalId: string): CallgateError {
  if (event?.type !== "ignored") return unknownApproval(approvalId);
  if (event.why === "reason_required") {
    return new CallgateError(
      "reason_required",
      "the policy wants a reason with this approval: pass `reason`",
    );
  }
  if (event.why === "self_approval") {
    return new CallgateError(
      "self_approval",
      "an agent cannot approve its own call: `by` must be somebody else",
    );
  }
  return unknownApproval(approvalId);
}

export function unknownApproval(approvalId: string): CallgateError {
  return new CallgateError(
    "unknown_approval",
    `no call is held under \`${approvalId}\`: it was answered, has expired, or was held anew`,
  );
}
