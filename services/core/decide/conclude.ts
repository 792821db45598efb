/** From what the checks found to the decision. */

import { trieGet } from "../../collections/trie.ts";
import type { CallContext, Finding } from "../checks/check.ts";
import { manualGrantUsed } from "../checks/tier.ts";
import type { CallAllowed, CallHeld, CallRefused, DecisionEvent, Execution } from "../events.ts";
import { approvalIdOf } from "../hash.ts";
import { joinSentences } from "../hidden-text.ts";
import { scopeOf } from "../policy/rule-scope.ts";
import { REASONS } from "../reasons/reasons.ts";
import { sealValues } from "../seal/seal-arguments.ts";
import type { Approval, DecisionDraft } from "./draft-decision.ts";
import { findExecution } from "./execution.ts";
import { runningFacts } from "./facts.ts";
import { climb } from "./ladder.ts";
import { makeRoom } from "./make-room.ts";
import { writeRefusal } from "./write-refusal.ts";

export function conclude(
  call: CallContext,
  draft: DecisionDraft,
  finding: Finding | null,
  approval: Approval | null,
): DecisionEvent {
  draft.arguments.actionKey = call.actionKey;
  if (approval === null) {
    draft.conversation.confirmation = call.isConfirmed ? call.proposal.confirmation : null;
  } else {
    draft.approval = { approvalId: approval.approvalId, approvedBy: approval.by };
  }
  if (finding === null) return allow(call, draft);
  return finding.hold === null
    ? refuse(call, draft, finding)
    : hold(call, draft, finding, { ...finding.hold, number: holdsBefore(call, draft) + 1 });
}

/**
 * Of this decision. A hold that no tick has ended outlives its name: the call comes as a new one then,
 * and what is said to the earlier hold must not count for the later.
 */
function holdsBefore({ state }: CallContext, draft: DecisionDraft): number {
  return trieGet(state.open, draft.decisionId)?.held?.holdNumber ?? 0;
}

/**
 * Field by field. A spread of the draft with other members behind it takes longer than all checks, see
 * docs/performance.md; the rarer decisions take their members into the draft.
 */
function allow(call: CallContext, draft: DecisionDraft): CallAllowed {
  const { policy, tool } = call;
  const execution = findExecution(call);
  draft.conversation.evicted = makeRoom(call, tool.isRead ? "read" : "write");
  draft.arguments.sealed = sealValues(draft, call.proposal.clear, policy);
  return {
    type: "allowed",
    decisionId: draft.decisionId,
    tenantId: draft.tenantId,
    conversationId: draft.conversationId,
    call: draft.call,
    arguments: draft.arguments,
    policy: draft.policy,
    notices: draft.notices,
    times: draft.times,
    conversation: draft.conversation,
    approval: draft.approval,
    keyId: keyIdOf(call, execution, policy.keyId),
    execution,
    notAfterMs: draft.times.atMs + tool.startWithinMs,
    timeLimitMs: tool.timeLimitMs,
    idempotencyArgument: tool.idempotencyArgument,
    facts: runningFacts(call, manualGrantUsed(call)),
  };
}

/** A retry keeps the secret of its execution: under another one its idempotency key would be another. */
function keyIdOf({ priorCall }: CallContext, { attempt }: Execution, current: string): string {
  return attempt > 1 && priorCall !== undefined ? priorCall.keyId : current;
}

function refuse(call: CallContext, draft: DecisionDraft, finding: Finding): CallRefused {
  const escalation = climb(call, finding);
  const { priorCall, facts } = call;
  const answered =
    finding.answered && priorCall !== undefined
      ? {
          facts: { ...facts, repeats: priorCall.repeats + 1 },
          outputDigest: priorCall.outputDigest,
        }
      : null;
  draft.conversation.evicted = makeRoom(call, "refusal");
  return Object.assign(draft, {
    type: "refused",
    refusal: writeRefusal(call, draft, finding, escalation),
    strike: escalation.strike,
    raised: escalation.raised,
    cycle: finding.cycle,
    counted: REASONS[finding.reason].usesBudget === true && !call.wasHeld,
    denial: null,
    answered,
  } as const);
}

function hold(
  call: CallContext,
  draft: DecisionDraft,
  finding: Finding,
  terms: NonNullable<Finding["hold"]> & { readonly number: number },
): CallHeld {
  const { policy, tool } = call;
  const { modelText } = REASONS.approval_required;
  draft.conversation.evicted = makeRoom(call, "write");
  draft.arguments.sealed = sealValues(draft, call.proposal.clear, policy);
  return Object.assign(draft, {
    type: "held",
    holdId: approvalIdOf(draft.decisionId, tool.ruleDigest, terms.number),
    expiresAtMs: draft.times.atMs + terms.expiresMs,
    requireReason: terms.requireReason,
    approvals: terms.approvals,
    holdNumber: terms.number,
    ruleDigest: tool.ruleDigest,
    scope: scopeOf(tool, policy.tool(tool.name)),
    message: joinSentences([modelText, finding.detail]),
    rule: finding.rule,
    facts: runningFacts(call, null),
  } as const);
}
