/** A person's word: approve or deny a held call, or tell an outcome that nobody knows. */

import type { JsonObject } from "../canonical/json-value.ts";
import { parseCanonical } from "../canonical/parse-canonical.ts";
import { cutText } from "../cut-text.ts";
import type { CallHeld, GateEvent, IgnoredWhy } from "../events.ts";
import type { VerdictInput } from "../inputs.ts";
import { LIMITS } from "../limits.ts";
import { trieEntries, trieGet } from "../persistent/trie.ts";
import type { CompiledPolicy } from "../policy/compiled.ts";
import { toolOfCall } from "../policy/tool-of-call.ts";
import type { ConversationState } from "../state/state.ts";
import { decideRead } from "./decide-proposal.ts";
import { heldBase, refuseHeld } from "./refuse-held.ts";
import { refusePlainly } from "./refuse-unread.ts";

export function decideVerdict(
  state: ConversationState | undefined,
  input: VerdictInput,
  policy: CompiledPolicy,
  nowMs: number,
): GateEvent {
  switch (input.kind) {
    case "approve":
    case "deny":
      return decideHold(state, input, policy, nowMs);
    case "reconcile":
      return reconcile(state, input, nowMs);
    case "grant":
    case "revoke":
    case "resume":
    case "end":
    case "cancel":
      return ignored(input, "not_supported");
  }
}

function ignored(input: VerdictInput, why: IgnoredWhy): GateEvent {
  const { tenantId, conversationId, kind } = input;
  const id = input.approvalId ?? input.decisionId;
  return { type: "ignored", tenantId, conversationId, input: kind, why, id };
}

function decideHold(
  state: ConversationState | undefined,
  input: VerdictInput,
  policy: CompiledPolicy,
  nowMs: number,
): GateEvent {
  const held = state === undefined ? undefined : findHold(state, input.approvalId);
  if (state === undefined || held === undefined) return ignored(input, "unknown_approval");
  const said = input.reason === null ? null : `Reason given: ${reasonText(input.reason)}.`;
  if (input.kind === "deny") {
    return refuseHeld(state, held, policy, nowMs, {
      reason: "approval_denied",
      by: [input.by],
      detail: said,
    });
  }
  if (held.requireReason && (input.reason ?? "").trim() === "") {
    return ignored(input, "reason_required");
  }
  if (held.agentId !== null && held.agentId === input.by) return ignored(input, "self_approval");
  return approve(state, held, input, policy, nowMs);
}

function reasonText(reason: string): string {
  return JSON.stringify(cutText(reason, LIMITS.shownError));
}

function findHold(state: ConversationState, approvalId: string | null): CallHeld | undefined {
  if (approvalId === null) return undefined;
  for (const [, open] of trieEntries(state.open)) {
    if (open.held?.holdId === approvalId) return open.held;
  }
  return undefined;
}

/** Checked again: what changed since may refuse it, and another rule holds it anew. */
function approve(
  state: ConversationState,
  held: CallHeld,
  input: VerdictInput,
  policy: CompiledPolicy,
  nowMs: number,
): GateEvent {
  // Whatever comes of it, the hold ends: a verdict is used once.
  const base = {
    ...heldBase(state, held, policy, nowMs),
    approvalId: held.holdId,
    approvedBy: [input.by],
  };
  const parsed = parseCanonical(held.arguments, policy.canonicalLimits);
  // They had a canonical form when it was held; only a newer policy's limits can refuse them.
  if (!parsed.ok) {
    return refusePlainly(base, {
      reason: parsed.reason,
      rule: "limits.arguments_bytes",
      disposition: "change_approach",
      detail: `Detail: ${parsed.message}.`,
    });
  }
  const proposal = {
    ...held,
    assistantText: null,
    estimatedCost: held.call.more?.cost ?? null,
    confirmation: null,
  };
  const args = parsed.value as JsonObject;
  const sameRule = toolOfCall(policy, held.tool, args).ruleDigest === held.ruleDigest;
  const approval = {
    approvalId: held.holdId,
    by: [input.by],
    holdNumber: held.holdNumber,
    stands: sameRule,
  };
  return decideRead(state, proposal, base, args, policy, base.proposalsAtMs, approval);
}

function reconcile(
  state: ConversationState | undefined,
  input: VerdictInput,
  nowMs: number,
): GateEvent {
  const { decisionId, outcome } = input;
  const open = state && decisionId !== null ? trieGet(state.open, decisionId) : undefined;
  if (open === undefined || decisionId === null || outcome === null) {
    return ignored(input, "unknown_call");
  }
  if (open.status !== "unknown") return ignored(input, "not_unknown");
  const { tenantId, conversationId } = input;
  const { callId, tool } = open;
  return {
    type: "reconciled",
    tenantId,
    conversationId,
    decisionId,
    callId,
    tool,
    atMs: nowMs,
    outcome,
    by: input.by,
    reason: input.reason,
  };
}
