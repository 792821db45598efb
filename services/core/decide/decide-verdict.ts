/**
 * Decides a verdict: a person approves or denies a held call, settles an unknown outcome, or gives
 * an order about the conversation.
 */

import { trieEntries, trieGet } from "../../collections/trie.ts";
import type { JsonObject } from "../canonical/json-value.ts";
import type { ClaimsOfTenant } from "../checks/check.ts";
import { heldInstead } from "../checks/tier.ts";
import { cutText } from "../cut-text.ts";
import type { CallHeld, GateEvent, IgnoredWhy, VerdictRuled } from "../events.ts";
import { quoteText } from "../hidden-text.ts";
import type { VerdictInput } from "../inputs.ts";
import { LIMITS } from "../limits.ts";
import type {
  CompiledHold,
  CompiledPolicy,
  CompiledTier,
  CompiledTool,
} from "../policy/compiled.ts";
import { toolOfCall } from "../policy/compiled.ts";
import { scopeOf } from "../policy/rule-scope.ts";
import { type ReopenedHold, reopenHold } from "../seal/reopen-hold.ts";
import { hasSpoken, isSameSpeaker } from "../speaker.ts";
import { findDoubt } from "../state/doubts.ts";
import { hasManualGrantOf, hasRoom, isBlank, rulingKey } from "../state/manual-grants.ts";
import type { ConversationState, OpenCall } from "../state/state.ts";
import { readBudgets } from "./count-budgets.ts";
import { decideParsed } from "./decide-proposal.ts";
import { draftOfHeld, proposalOfHeld, refuseHeld } from "./refuse-held.ts";
import { type PlainRefusal, refusePlainly } from "./refuse-plainly.ts";

export function decideVerdict(
  state: ConversationState | undefined,
  input: VerdictInput,
  policy: CompiledPolicy,
  nowMs: number,
  claims: ClaimsOfTenant | null,
): readonly GateEvent[] {
  switch (input.kind) {
    case "approve":
    case "deny":
    case "cancel":
      return decideHold(state, input, policy, nowMs, claims);
    case "reconcile":
      return [reconcile(state, input, nowMs)];
    case "grant":
    case "revoke":
    case "resume":
    case "end":
      return [rule(state, { ...input, kind: input.kind }, policy, nowMs)];
  }
}

function ignored(input: VerdictInput | Ruling, why: IgnoredWhy): GateEvent {
  const { tenantId, conversationId, kind } = input;
  const id = input.approvalId ?? input.decisionId;
  return { type: "ignored", tenantId, conversationId, input: kind, why, id };
}

type Ruling = Omit<VerdictInput, "kind"> & { readonly kind: VerdictRuled["kind"] };

/** A verdict on the conversation or on grants, not on one call. */
function rule(
  state: ConversationState | undefined,
  input: Ruling,
  policy: CompiledPolicy,
  nowMs: number,
): GateEvent {
  if (state === undefined) return ignored(input, "unknown_conversation");
  if (input.kind === "resume" || input.kind === "end") return ruled(input, nowMs, null);
  const tier = tierOf(input, policy);
  if (input.kind === "revoke") {
    // A grant can be revoked, whatever the policy says by now.
    const key = rulingKey({ ...input, ruleDigest: null });
    const isThere = trieGet(state.manualGrants, key) !== undefined || hasManualGrant(state, input);
    const isRevocable = tier !== undefined && hasRoom(state.manualGrants, key);
    return isThere || isRevocable ? ruled(input, nowMs, null) : ignored(input, "unknown_grant");
  }
  if (tier === undefined) return ignored(input, "unknown_grant");
  const wrong = wrongGrant(heldInstead(tier), input);
  return wrong === null ? give(state, input, ruleOf(input, policy), nowMs) : ignored(input, wrong);
}

function hasManualGrant(state: ConversationState, { tool }: Ruling): boolean {
  return tool !== null && hasManualGrantOf(state.manualGrants, tool);
}

/** The one rule whose calls are granted; null: the grant is of a tier. */
type ManualGrantRule = Pick<VerdictRuled, "ruleDigest" | "scope"> | null;

function ruleOf({ tool }: Ruling, policy: CompiledPolicy): ManualGrantRule {
  if (tool === null) return null;
  const compiledTool = policy.tool(tool);
  return { ruleDigest: compiledTool.ruleDigest, scope: scopeOf(compiledTool, compiledTool) };
}

function give(
  state: ConversationState,
  input: Ruling,
  rule: ManualGrantRule,
  nowMs: number,
): GateEvent {
  const key = rulingKey({ ...input, ruleDigest: rule?.ruleDigest ?? null });
  const calls = input.calls ?? 1;
  const over = input.untilMs !== null && input.untilMs <= nowMs;
  if (calls < 1 || over || !hasRoom(state.manualGrants, key))
    return ignored(input, "unknown_grant");
  return ruled(input, nowMs, null, rule);
}

/**
 * The tier of the policy, or of a declared tool, that a grant names; undefined: neither exists.
 * Where a tool's arguments choose among several rules, its calls are granted by the tier or by the
 * approval of one of them; a revocation takes all of them at once.
 */
function tierOf({ kind, tier, tool }: Ruling, policy: CompiledPolicy): CompiledTier | undefined {
  if (tool === null) return tier === null ? undefined : (policy.findTier(tier) ?? undefined);
  const compiledTool = policy.tool(tool);
  const isOne = kind === "revoke" || compiledTool.variantOf === null;
  return tier === null && compiledTool.isDeclared && isOne ? compiledTool.tier : undefined;
}

/** A grant of calls that would be held must meet the terms of the hold of one of them. */
function wrongGrant(terms: CompiledHold | null, { reason }: Ruling): IgnoredWhy | null {
  if (terms === null) return null;
  if (terms.approvals > 1) return "approvals_required";
  return terms.requireReason && isBlank(reason) ? "reason_required" : null;
}

function ruled(
  input: Ruling,
  nowMs: number,
  decisionId: string | null,
  rule: ManualGrantRule = null,
): VerdictRuled {
  return {
    type: "ruled",
    tenantId: input.tenantId,
    conversationId: input.conversationId,
    atMs: nowMs,
    kind: input.kind,
    approvalId: input.approvalId,
    decisionId,
    tier: input.tier,
    tool: input.tool,
    ruleDigest: rule?.ruleDigest ?? null,
    scope: rule?.scope ?? null,
    calls: input.calls,
    untilMs: input.untilMs,
    by: input.by,
    reason: input.reason,
  };
}

function decideHold(
  state: ConversationState | undefined,
  input: VerdictInput,
  policy: CompiledPolicy,
  nowMs: number,
  claims: ClaimsOfTenant | null,
): readonly GateEvent[] {
  const open = state === undefined ? undefined : findHold(state, input.approvalId);
  const held = open?.held ?? null;
  if (state === undefined || open === undefined || held === null) {
    return [ignored(input, "unknown_approval")];
  }
  const other = otherSubject(held, input);
  if (other !== null) return [ignored(input, other)];
  const said = input.reason === null ? null : `Reason given: ${reasonText(input.reason)}.`;
  if (input.kind !== "approve") {
    const detail = input.kind === "deny" ? said : `It was cancelled. ${said ?? ""}`.trim();
    const denial = input.kind === "deny" ? { reason: input.reason } : null;
    const why = { reason: "approval_denied", by: [input.by], detail, denial } as const;
    return [refuseHeld(state, held, policy, nowMs, why)];
  }
  // The tick may come after this verdict, where the gate was down when the hold ended.
  if (nowMs >= held.expiresAtMs) {
    const why = { reason: "approval_expired", by: [], detail: null, denial: null } as const;
    return [refuseHeld(state, held, policy, nowMs, why)];
  }
  const wrong = wrongApproval(open, held, input);
  if (wrong !== null) return [ignored(input, wrong)];
  return approve(state, open, held, input, policy, nowMs, claims);
}

/**
 * Why the verdict does not apply: it is about the call that the approver saw, and the held call is
 * another one.
 */
function otherSubject(held: CallHeld, { about }: VerdictInput): IgnoredWhy | null {
  if (about === undefined) return null;
  const { callId, actionKey, ruleDigest } = about;
  if (callId !== null && callId !== held.call.callId) return "wrong_call";
  if (actionKey !== null && actionKey !== held.arguments.actionKey) return "wrong_action";
  return ruleDigest !== null && ruleDigest !== held.ruleDigest ? "wrong_rule" : null;
}

function wrongApproval(open: OpenCall, held: CallHeld, input: VerdictInput): IgnoredWhy | null {
  if (held.requireReason && isBlank(input.reason)) return "reason_required";
  if (held.call.agentId !== null && isSameSpeaker(held.call.agentId, input.by))
    return "self_approval";
  if (hasSpoken(open.approvedBy, input.by)) return "already_decided";
  if (input.tool === null) return null;
  // The approval grants further calls: only of its own tool, and not where several people must
  // approve.
  if (input.tool !== held.call.tool) return "unknown_grant";
  return held.approvals > 1 ? "approvals_required" : null;
}

function reasonText(reason: string): string {
  return quoteText(cutText(reason, LIMITS.shownError));
}

function findHold(state: ConversationState, approvalId: string | null): OpenCall | undefined {
  if (approvalId === null) return undefined;
  for (const [, open] of trieEntries(state.open)) {
    if (open.held?.holdId === approvalId) return open;
  }
  return undefined;
}

/**
 * Judges the call again once everybody who must has approved: a change since may refuse it. Where
 * the rule has changed, the call is judged at once, and approvals of the old rule are void.
 */
function approve(
  state: ConversationState,
  open: OpenCall,
  held: CallHeld,
  input: VerdictInput,
  policy: CompiledPolicy,
  nowMs: number,
  claims: ClaimsOfTenant | null,
): readonly GateEvent[] {
  const reopened = reopenHold(state, held, policy);
  const stands =
    reopened.ok && toolOfHeld(state, held, reopened.value, policy).ruleDigest === held.ruleDigest;
  const by = stands ? [...open.approvedBy, input.by] : [input.by];
  if (stands && by.length < held.approvals) {
    return [ruled({ ...input, kind: "approve" }, nowMs, held.decisionId)];
  }
  // The hold ends with any outcome: a verdict counts once.
  const draft = draftOfHeld(state, held, policy, nowMs);
  draft.approval = { approvalId: held.holdId, approvedBy: by };
  if (!reopened.ok) return [refusePlainly(draft, notReopened(reopened.failure))];
  const { text, clear } = reopened;
  const proposal = { ...proposalOfHeld(held), ...(clear === undefined ? {} : { clear }) };
  draft.arguments.text = text;
  const approval = { approvalId: held.holdId, by, stands };
  const at = draft.times.proposalsAtMs;
  const decision = decideParsed(state, proposal, draft, reopened, policy, at, approval, claims);
  // An approval of the old rule grants no further calls under the new one either.
  if (!stands || decision.type !== "allowed" || input.tool === null) return [decision];
  const grant = { ...input, kind: "grant", approvalId: null, tier: null } as const;
  return [decision, give(state, grant, held, nowMs)];
}

/** The tool that the held call is judged by now; its own reservation does not count. */
function toolOfHeld(
  state: ConversationState,
  held: CallHeld,
  args: JsonObject,
  policy: CompiledPolicy,
): CompiledTool {
  const { spending } = readBudgets(state, proposalOfHeld(held), policy, {
    args: () => args,
    nowMs: state.lastAtMs,
    heldAs: held.decisionId,
  });
  return toolOfCall(policy, held.call.tool, args, spending);
}

function notReopened(
  failure: Exclude<ReopenedHold, { readonly ok: true }>["failure"],
): PlainRefusal {
  if (failure === "not_opened") {
    return {
      reason: "internal_error",
      rule: "gate",
      disposition: "change_approach",
      detail: "Its sealed arguments cannot be opened. Propose the call again.",
    };
  }
  return {
    reason: failure.reason,
    rule: "limits.arguments_bytes",
    disposition: "change_approach",
    detail: `Detail: ${failure.message}.`,
  };
}

function reconcile(
  state: ConversationState | undefined,
  input: VerdictInput,
  nowMs: number,
): GateEvent {
  const { decisionId, outcome } = input;
  if (state === undefined || decisionId === null || outcome === null) {
    return ignored(input, "unknown_call");
  }
  const open = trieGet(state.open, decisionId) ?? findDoubt(state, decisionId);
  if (open === undefined) return ignored(input, "unknown_call");
  if (open.status !== "unknown" && open.status !== "in_doubt") return ignored(input, "not_unknown");
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
