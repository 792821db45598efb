/** From what the checks found to the decision. */

import { trieGet } from "../../collections/trie.ts";
import type { CallContext, Finding } from "../checks/check.ts";
import { givenUsed } from "../checks/tier.ts";
import type { CallAllowed, CallHeld, CallRefused, DecisionEvent, Occurrence } from "../events.ts";
import { approvalIdOf } from "../hash.ts";
import { toldText } from "../hidden-text.ts";
import { scopeOf } from "../policy/rule-scope.ts";
import { REASONS } from "../reasons/reasons.ts";
import { sealValues } from "../seal/seal-arguments.ts";
import type { Approval } from "./approval.ts";
import type { DecisionDraft } from "./draft-decision.ts";
import { runningFacts } from "./facts.ts";
import { climb } from "./ladder.ts";
import { makeRoom } from "./make-room.ts";
import { occurrenceOf } from "./occurrence.ts";
import { refusalOf } from "./refusal.ts";

export function conclude(
  call: CallContext,
  draft: DecisionDraft,
  found: Finding | null,
  approval: Approval | null,
): DecisionEvent {
  draft.arguments.actionKey = call.actionKey;
  if (approval === null) {
    draft.conversation.confirmation = call.covered ? call.proposal.confirmation : null;
  } else {
    draft.approval = { approvalId: approval.approvalId, approvedBy: approval.by };
  }
  if (found === null) return allow(call, draft);
  return found.hold === null
    ? refuse(call, draft, found)
    : hold(call, draft, found, { ...found.hold, number: holdsBefore(call, draft) + 1 });
}

/**
 * Of this decision. A hold that no tick has ended outlives its name: the call comes as a new one then,
 * and what is said to the earlier hold must not count for the later.
 */
function holdsBefore({ state }: CallContext, draft: DecisionDraft): number {
  return trieGet(state.open, draft.decisionId)?.held?.holdNumber ?? 0;
}

function allow(call: CallContext, draft: DecisionDraft): CallAllowed {
  const { policy, tool } = call;
  const occurrence = occurrenceOf(call);
  draft.conversation.evicted = makeRoom(call, tool.isRead ? "read" : "write");
  draft.arguments.sealed = sealValues(draft, call.proposal.clear, policy);
  return {
    ...draft,
    type: "allowed",
    keyId: keyIdOf(call, occurrence, policy.keyId),
    occurrence,
    notAfterMs: draft.times.atMs + tool.startWithinMs,
    timeLimitMs: tool.timeLimitMs,
    idempotencyArgument: tool.idempotencyArgument,
    facts: runningFacts(call, givenUsed(call)),
  };
}

/** A retry keeps the secret of its occurrence: under another one its idempotency key would be another. */
function keyIdOf({ twin }: CallContext, { attempt }: Occurrence, current: string): string {
  return attempt > 1 && twin !== undefined ? twin.keyId : current;
}

function refuse(call: CallContext, draft: DecisionDraft, found: Finding): CallRefused {
  const rung = climb(call, found);
  const { twin, facts } = call;
  const answered =
    found.answered && twin !== undefined
      ? { facts: { ...facts, repeats: twin.repeats + 1 }, outputDigest: twin.outputDigest }
      : null;
  draft.conversation.evicted = makeRoom(call, "refusal");
  return {
    ...draft,
    type: "refused",
    refusal: refusalOf(call, draft, found, rung),
    strike: rung.strike,
    raised: rung.raised,
    cycle: found.cycle,
    counted: REASONS[found.reason].usesBudget === true && !call.wasHeld,
    denial: null,
    answered,
  };
}

function hold(
  call: CallContext,
  draft: DecisionDraft,
  found: Finding,
  terms: NonNullable<Finding["hold"]> & { readonly number: number },
): CallHeld {
  const { policy, tool } = call;
  const { model } = REASONS.approval_required;
  draft.conversation.evicted = makeRoom(call, "write");
  draft.arguments.sealed = sealValues(draft, call.proposal.clear, policy);
  return {
    ...draft,
    type: "held",
    holdId: approvalIdOf(draft.decisionId, tool.ruleDigest, terms.number),
    expiresAtMs: draft.times.atMs + terms.expiresMs,
    requireReason: terms.requireReason,
    approvals: terms.approvals,
    holdNumber: terms.number,
    ruleDigest: tool.ruleDigest,
    scope: scopeOf(tool, policy.tool(tool.name)),
    message: toldText([model, found.detail]),
    rule: found.rule,
    facts: runningFacts(call, null),
  };
}
