/** From what the checks found to the decision. */

import { trieGet } from "../../collections/trie.ts";
import type { CallContext, Finding } from "../checks/check.ts";
import { givenUsed } from "../checks/tier.ts";
import type {
  CallAllowed,
  CallHeld,
  CallRefused,
  DecisionBase,
  DecisionEvent,
  Occurrence,
} from "../events.ts";
import { approvalIdOf } from "../hash.ts";
import { toldText } from "../hidden-text.ts";
import { scopeOf } from "../policy/rule-scope.ts";
import { REASONS } from "../reasons/reasons.ts";
import type { Approval } from "./approval.ts";
import type { Draft } from "./decision-base.ts";
import { runningFacts } from "./facts.ts";
import { climb } from "./ladder.ts";
import { makeRoom } from "./make-room.ts";
import { occurrenceOf } from "./occurrence.ts";
import { refusalOf } from "./refusal.ts";

const NOBODY: readonly string[] = [];

export function conclude(
  call: CallContext,
  base: Draft,
  found: Finding | null,
  approval: Approval | null,
): DecisionEvent {
  const spent = call.covered && approval === null ? call.proposal.confirmation : null;
  const common: Draft = base;
  common.actionKey = call.actionKey;
  common.approvalId = approval === null ? null : approval.approvalId;
  common.approvedBy = approval === null ? NOBODY : approval.by;
  common.confirmation = spent;
  if (found === null) return allow(call, common);
  return found.hold === null
    ? refuse(call, common, found)
    : hold(call, common, found, { ...found.hold, number: holdsBefore(call, common) + 1 });
}

/**
 * Of this decision. A hold that no tick has ended outlives its name: the call comes as a new one then,
 * and what is said to the earlier hold must not count for the later.
 */
function holdsBefore({ state }: CallContext, base: Draft): number {
  return trieGet(state.open, base.decisionId)?.held?.holdNumber ?? 0;
}

/** Field by field, here and below: a spread of so many costs more than all checks together. */
function allow(call: CallContext, base: Draft): CallAllowed {
  const { policy, tool } = call;
  const notAfterMs = base.atMs + tool.startWithinMs;
  const occurrence = occurrenceOf(call);
  return {
    type: "allowed",
    decisionId: base.decisionId,
    tenantId: base.tenantId,
    conversationId: base.conversationId,
    callId: base.callId,
    agentId: base.agentId,
    turn: base.turn,
    step: base.step,
    tool: base.tool,
    arguments: base.arguments,
    argumentsDigest: base.argumentsDigest,
    actionKey: base.actionKey,
    atMs: base.atMs,
    proposalsAtMs: base.proposalsAtMs,
    policy: base.policy,
    tier: base.tier,
    isRead: base.isRead,
    warnings: base.warnings,
    shadow: base.shadow,
    fresh: base.fresh,
    stateDropAtMs: base.stateDropAtMs,
    entersTurn: base.entersTurn,
    confirmation: base.confirmation,
    approvalId: base.approvalId,
    approvedBy: base.approvedBy,
    evicted: makeRoom(call, tool.isRead ? "read" : "write"),
    keyId: keyIdOf(call, occurrence, policy.keyId),
    occurrence,
    notAfterMs,
    timeLimitMs: tool.timeLimitMs,
    idempotencyArgument: tool.idempotencyArgument,
    call: runningFacts(call, givenUsed(call)),
  };
}

/** A retry keeps the secret of its occurrence: under another one its idempotency key would be another. */
function keyIdOf({ twin }: CallContext, { attempt }: Occurrence, current: string): string {
  return attempt > 1 && twin !== undefined ? twin.keyId : current;
}

function refuse(call: CallContext, base: Draft, found: Finding): CallRefused {
  const rung = climb(call, found);
  const { twin, facts } = call;
  const answered =
    found.answered && twin !== undefined
      ? { call: { ...facts, repeats: twin.repeats + 1 }, outputDigest: twin.outputDigest }
      : null;
  return {
    type: "refused",
    decisionId: base.decisionId,
    tenantId: base.tenantId,
    conversationId: base.conversationId,
    callId: base.callId,
    agentId: base.agentId,
    turn: base.turn,
    step: base.step,
    tool: base.tool,
    arguments: base.arguments,
    argumentsDigest: base.argumentsDigest,
    actionKey: base.actionKey,
    atMs: base.atMs,
    proposalsAtMs: base.proposalsAtMs,
    policy: base.policy,
    tier: base.tier,
    isRead: base.isRead,
    warnings: base.warnings,
    shadow: base.shadow,
    fresh: base.fresh,
    stateDropAtMs: base.stateDropAtMs,
    entersTurn: base.entersTurn,
    confirmation: base.confirmation,
    approvalId: base.approvalId,
    approvedBy: base.approvedBy,
    evicted: makeRoom(call, "refusal"),
    refusal: refusalOf(call, base, found, rung),
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
  base: DecisionBase,
  found: Finding,
  terms: NonNullable<Finding["hold"]> & { readonly number: number },
): CallHeld {
  const { tool } = call;
  const expiresAtMs = base.atMs + terms.expiresMs;
  const { model } = REASONS.approval_required;
  return {
    ...base,
    type: "held",
    evicted: makeRoom(call, "write"),
    holdId: approvalIdOf(base.decisionId, tool.ruleDigest, terms.number),
    expiresAtMs,
    requireReason: terms.requireReason,
    approvals: terms.approvals,
    holdNumber: terms.number,
    ruleDigest: tool.ruleDigest,
    scope: scopeOf(tool, call.policy.tool(tool.name)),
    message: toldText([model, found.detail]),
    rule: found.rule,
    call: runningFacts(call, null),
  };
}
