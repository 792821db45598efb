/**
 * Decides a proposal. Envelope, redelivery, tool and arguments (`ENTRY_ORDER`) read and identify the
 * call; then the checks judge it (`run-checks.ts`).
 */

import type { CallContext, ClaimsOfTenant } from "../checks/check.ts";
import type { CallFacts, DecisionEvent, GateEvent, PendingEffect } from "../events.ts";
import { actionDigest } from "../hash.ts";
import { quoteTicks } from "../hidden-text.ts";
import type { ProposalInput } from "../inputs.ts";
import type { CompiledPolicy, CompiledTool } from "../policy/compiled.ts";
import { REASONS } from "../reasons/reasons.ts";
import { sealProposal } from "../seal/seal-arguments.ts";
import { findAsked } from "../state/asked-calls.ts";
import { findDoubtOf } from "../state/doubts.ts";
import { callNameOf, findByName, isForgotten } from "../state/names.ts";
import { findPriorCall } from "../state/prior-calls.ts";
import { loopKeyOf } from "../state/recent-calls.ts";
import { type Redelivered, recallDecision } from "../state/retained-decision.ts";
import type { ConversationState, PriorCall } from "../state/state.ts";
import { readToolName, shownTool } from "../tool-name.ts";
import { Advice } from "./advice.ts";
import { conclude } from "./conclude.ts";
import { isConfirmed } from "./confirmed.ts";
import { readBudgets, stateOf } from "./count-budgets.ts";
import type { Approval } from "./draft-decision.ts";
import { type DecisionDraft, decidedPolicy, draftDecision } from "./draft-decision.ts";
import { factsOf } from "./facts.ts";
import { type LazyArguments, TextArguments } from "./lazy-arguments.ts";
import { makeRoomForName } from "./make-room.ts";
import { type IdentifiedCall, nameCall } from "./name-call.ts";
import {
  type ParsedArguments,
  parseArguments,
  parseSealedArguments,
  unreadArguments,
} from "./parse-arguments.ts";
import { refuseEarly } from "./refuse-early.ts";
import { type PlainRefusal, refusePlainly } from "./refuse-plainly.ts";
import { runChecks } from "./run-checks.ts";
import { showsPending } from "./shows-pending.ts";

export function decideProposal(
  state: ConversationState | undefined,
  input: ProposalInput,
  policy: CompiledPolicy,
  nowMs: number,
  claims: ClaimsOfTenant | null,
): GateEvent {
  const proposal = sealProposal(state, withReadName(input), policy);
  const clear = proposal.clear ?? null;
  const identifiedCall = nameCall(proposal, policy);
  const draft = draftDecision(state, proposal, identifiedCall, policy, {
    at: nowMs,
    proposals: nowMs,
  });
  const unread = unreadable(proposal, identifiedCall);
  // The sender may have used another agent's names, so the refusal reveals nothing of that agent's
  // calls.
  if (unread !== null && REASONS[unread.reason].keepsNoState) return refusePlainly(draft, unread);
  const name = callNameOf(
    proposal.turn,
    proposal.step,
    proposal.callId,
    identifiedCall.argumentsDigest,
  );
  const retainedDecision = state && findByName(state, name);
  if (retainedDecision?.decisionId === identifiedCall.decisionId) {
    return redeliver(recallDecision(retainedDecision, redeliveredBy(draft, draft.call)));
  }
  if (retainedDecision !== undefined) return refusePlainly(draft, unread ?? CONFLICT);
  if (state !== undefined && isForgotten(state, name)) {
    return refusePlainly(draft, unread ?? FORGOTTEN);
  }
  if (unread !== null) return refuseText(state, proposal, draft, unread, policy, nowMs);
  const asked = state && askedAgain(state, proposal, draft);
  if (asked !== undefined) return redeliver(asked);
  const args = clear ?? new TextArguments(draft.arguments.text);
  return decideParsed(state, proposal, draft, args, policy, nowMs, null, claims);
}

/** Applies NAME-1, also to a proposal that came without an envelope. */
function withReadName(input: ProposalInput): ProposalInput {
  const read = readToolName(input.tool);
  if (read.ok) return read.name === input.tool ? input : { ...input, tool: read.name };
  const rejected = input.rejected ?? { reason: "malformed", message: read.problem };
  return { ...input, tool: shownTool(input.tool), rejected };
}

const CONFLICT = {
  reason: "call_id_conflict",
  rule: "gate",
  disposition: "change_approach",
  detail: null,
} as const;

const FORGOTTEN = {
  ...CONFLICT,
  detail:
    "The gate no longer has the decision on that earlier call, which may have run: if this is the same call, find out whether it took effect before you make it again.",
} as const;

function redeliver(decision: DecisionEvent): GateEvent {
  const { tenantId, conversationId, decisionId } = decision;
  return { type: "repeated", tenantId, conversationId, decisionId, decision };
}

/**
 * The decision on a call that a person was asked about, when it is proposed again under another
 * turn or step.
 */
function askedAgain(
  state: ConversationState,
  { approvalId }: ProposalInput,
  draft: DecisionDraft,
): DecisionEvent | undefined {
  const { callId } = draft.call;
  const argumentsDigest = draft.arguments.digest;
  const openCall = findAsked(state, { callId, approvalId: approvalId ?? null, argumentsDigest });
  if (openCall === undefined) return undefined;
  const { turn, step } = openCall.asked;
  const name = callNameOf(turn, step, openCall.callId, argumentsDigest);
  const retainedDecision = findByName(state, name);
  if (retainedDecision?.decisionId !== openCall.decisionId) return undefined;
  const { tool } = openCall;
  return recallDecision(
    retainedDecision,
    redeliveredBy(draft, { callId: openCall.callId, turn, step, tool }),
  );
}

/** What a proposal brings of the decision on its call: the call may have been named otherwise then. */
function redeliveredBy(draft: DecisionDraft, call: Redelivered["call"]): Redelivered {
  const { tenantId, conversationId } = draft;
  const { text, digest } = draft.arguments;
  return { tenantId, conversationId, call, text, digest };
}

/** What is wrong with the envelope or the text of the arguments; null: both can be read. */
function unreadable({ rejected }: ProposalInput, { read }: IdentifiedCall): PlainRefusal | null {
  const plain = { rule: "gate", disposition: "change_approach" } as const;
  if (rejected !== null) {
    const { reason, message } = rejected;
    const terms = reason === "overloaded" ? OVERLOAD_TERMS : plain;
    return { ...terms, reason, detail: sentence(message) };
  }
  if (!read.ok) return { ...plain, reason: read.reason, detail: sentence(read.message) };
  if (read.text.startsWith("{")) return null;
  const detail = 'The arguments are not a JSON object: send `{"name": value}`.';
  return { ...plain, reason: "malformed", detail };
}

/** Conversations end all the time, but whoever began too many of them must not ask without a rest. */
const OVERLOAD_WAIT_MS = 60_000;

const OVERLOAD_TERMS = {
  rule: "gate",
  disposition: "wait",
  retryAfterMs: OVERLOAD_WAIT_MS,
  userMessage: "The system is busy and could not begin this task; please try again in a minute.",
} as const;

function sentence(message: string): string {
  return `Detail: ${message}.`;
}

/**
 * Refuses arguments that are no JSON object. An envelope that is not acceptable may name any turn,
 * so such a call is not counted.
 */
function refuseText(
  state: ConversationState | undefined,
  proposal: ProposalInput,
  draft: DecisionDraft,
  unread: PlainRefusal,
  policy: CompiledPolicy,
  nowMs: number,
): DecisionEvent {
  if (proposal.rejected !== null) {
    draft.conversation.evicted = state === undefined ? null : makeRoomForName(state, nowMs);
    return refusePlainly(draft, unread);
  }
  draft.conversation.entersTurn = true;
  const tool = policy.tool(proposal.tool);
  const context = contextOf(
    state,
    proposal,
    draft,
    tool,
    unreadArguments(draft),
    policy,
    nowMs,
    null,
    null,
  );
  return refuseEarly(context, draft, unread, new Advice());
}

/**
 * Looks at tool and arguments, then runs the checks. `lazyArguments`: as they were sent, also where
 * the proposal has `clear`. `approval`: of the hold that a verdict ends, if one does.
 */
export function decideParsed(
  state: ConversationState | undefined,
  proposal: Omit<ProposalInput, "type" | "arguments" | "rejected" | "approvalId">,
  draft: DecisionDraft,
  lazyArguments: LazyArguments,
  policy: CompiledPolicy,
  nowMs: number,
  approval: Approval | null,
  claims: ClaimsOfTenant | null,
): DecisionEvent {
  // As `toolOfCall`, which would build the arguments for every tool. Here a shell line is parsed and
  // judged, where the tool has `commands` (policy/compile-commands.ts).
  const baseTool = policy.tool(proposal.tool);
  draft.conversation.entersTurn = approval === null;
  const heldAs = approval === null ? null : draft.decisionId;
  const { budgets, spending } = readBudgets(state, proposal, policy, {
    args: () => lazyArguments.value,
    nowMs,
    heldAs,
  });
  const chosen =
    baseTool.variantOf === null ? baseTool : baseTool.variantOf(lazyArguments.value, spending);
  const tool = asksAfresh(chosen, draft.arguments.text) ? { ...chosen, volatile: true } : chosen;
  draft.policy = decidedPolicy(policy, tool);
  const killed = policy.killedBy(proposal);
  const advice = new Advice();
  const refuse = (plain: PlainRefusal): DecisionEvent => {
    draft.notices = advice.notices;
    if (approval !== null) return refusePlainly(draft, plain);
    const unread = unreadArguments(draft);
    const context = contextOf(state, proposal, draft, tool, unread, policy, nowMs, null, null);
    return refuseEarly(context, draft, plain, advice);
  };
  if (killed !== null) return refuse(killedBy(killed));
  if (isUnknownRefused(policy, tool)) {
    const mode = tool.modes.unknown_tool;
    const plain = unknownTool(tool);
    if (mode === "enforce") return refuse(plain);
    advice.add(mode, plain.reason, plain.rule, plain.detail);
  }
  const clear = proposal.clear ?? null;
  const read =
    clear === null
      ? parseArguments(tool, lazyArguments, draft.arguments.text, policy, state)
      : parseSealedArguments(tool, clear, draft, policy, state);
  if (read.problems.length > 0) {
    const mode = tool.modes.invalid_arguments;
    const rule = `${tool.rule}.input_schema`;
    if (mode === "enforce") {
      return refuse({
        reason: "invalid_arguments",
        rule,
        disposition: "change_approach",
        detail: null,
        problems: read.problems,
      });
    }
    advice.add(
      mode,
      "invalid_arguments",
      rule,
      read.problems.map((p) => `${quoteTicks(p.path)}: ${p.message}`).join("; "),
    );
  }
  const parsed = budgets.length === 0 ? read : { ...read, budgets };
  const context = contextOf(state, proposal, draft, tool, parsed, policy, nowMs, approval, claims);
  const finding = runChecks(context, advice);
  draft.notices = advice.notices;
  return conclude(context, draft, finding, approval);
}

/** By which callers tell a tool not to answer from its own memory; then the gate does not either. */
const AFRESH = /"(?:fresh|refresh|force_refresh|no_cache)":true[,}]/;

function asksAfresh({ isRead, volatile }: CompiledTool, text: string): boolean {
  return isRead && !volatile && AFRESH.test(text);
}

function killedBy(rule: string): PlainRefusal {
  return { reason: "killed", rule, disposition: "stop", detail: null };
}

/**
 * With `unknown_tools` set to a tier (or to allow), that tier judges the call. A name that is like a
 * declared one is refused all the same.
 */
function isUnknownRefused(policy: CompiledPolicy, tool: CompiledTool): boolean {
  if (tool.likeTool !== null) return true;
  return policy.unknownTools === "deny" && !tool.isDeclared;
}

function unknownTool({ name, likeTool }: CompiledTool): PlainRefusal {
  const plain = { reason: "unknown_tool", rule: "unknown_tools" } as const;
  const detail =
    likeTool === null
      ? `No rule of the policy names \`${name}\`.`
      : `The tool is called \`${likeTool}\`; \`${name}\` is no name of it.`;
  return { ...plain, disposition: "change_approach", detail };
}

function contextOf(
  before: ConversationState | undefined,
  proposal: CallContext["proposal"],
  draft: DecisionDraft,
  tool: CompiledTool,
  read: ParsedArguments,
  policy: CompiledPolicy,
  nowMs: number,
  approval: Approval | null,
  claims: ClaimsOfTenant | null,
): CallContext {
  const state = stateOf(before, proposal, draft.conversation.entersTurn, nowMs);
  const actionKey =
    read.identityText === draft.arguments.text
      ? draft.arguments.digest
      : actionDigest(tool.name, read.identityText);
  const loopKey = loopKeyOf(actionKey, proposal.agentId);
  const facts = factsOf(tool, policy, read.touched, { actionKey, loopKey }, proposal, read, nowMs);
  const priorCall = findPriorCallAcrossTurns(state, tool, facts, actionKey, nowMs);
  return {
    policy,
    tool: looksAgain(tool, priorCall) ? { ...tool, volatile: true } : tool,
    state,
    proposal,
    decisionId: draft.decisionId,
    actionKey,
    loopKey,
    nowMs,
    facts,
    priorCall,
    dependsOn: dependsOn(facts, priorCall),
    isConfirmed: approval?.stands === true || isConfirmed(state, proposal, draft),
    approved: approval?.stands === true,
    wasHeld: approval !== null,
    claims,
  };
}

/** Whether the earlier look found work that goes on: another look is none of the same thing. */
function looksAgain(tool: CompiledTool, priorCall: PriorCall | undefined): boolean {
  if (!tool.isRead || tool.volatile || tool.polling !== null) return false;
  return priorCall?.status === "succeeded" && showsPending(priorCall.output);
}

/**
 * An action of an earlier turn that may have taken effect continues, also for a tool that compares
 * within turns.
 */
function findPriorCallAcrossTurns(
  state: ConversationState,
  { isRead }: CompiledTool,
  { priorKey }: CallFacts,
  actionKey: string,
  nowMs: number,
): PriorCall | undefined {
  const priorCall = findPriorCall(state, priorKey, isRead, nowMs);
  const doubt = priorCall === undefined && !isRead ? findDoubtOf(state, actionKey) : undefined;
  return doubt === undefined ? priorCall : findPriorCall(state, doubt.call.priorKey, false, nowMs);
}

/**
 * A repeat of a call whose result names what it writes concerns what its prior call wrote. Where
 * that result named nothing, a write elsewhere does not make a second exclusive effect intended.
 */
function dependsOn(facts: CallFacts, priorCall: PriorCall | undefined): readonly string[] | null {
  const pending = facts.more?.pending ?? NOTHING_PENDING;
  if (pending.length === 0) return facts.resources;
  const wrote = priorCall?.wrote ?? null;
  return wrote === null && pending.some(({ exclusive }) => exclusive) ? facts.resources : wrote;
}

const NOTHING_PENDING: readonly PendingEffect[] = [];
