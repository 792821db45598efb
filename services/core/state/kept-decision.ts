/**
 * A decision as it is kept to answer a redelivery: what the redelivered proposal does not bring
 * along. Thousands are kept of one conversation, so that what equals another member is null, and what
 * is alike for most calls of a tool is kept once for all of them.
 */
import type {
  CallAllowed,
  CallHeld,
  CallRefused,
  DecisionBase,
  DecisionEvent,
  ExclusiveEffect,
  Occurrence,
} from "../events.ts";
import { type KeptTerms, keptTerms } from "./kept-terms.ts";

export type KeptDecision = KeptAllowed | KeptOther;

/** Held or refused: rarer, and each is kept as it is but for its arguments. */
export interface KeptOther {
  readonly type: "held" | "refused";
  readonly decisionId: string;
  readonly decision: CallHeld | CallRefused;
}

export interface KeptAllowed {
  readonly type: "allowed";
  readonly decisionId: string;
  readonly agentId: string | null;
  /** Null: the digest of the arguments. */
  readonly actionKey: string | null;
  readonly atMs: number;
  /** Null: it opened its own, at the time of its proposal. */
  readonly occurrence: Occurrence | null;
  /** Null: the action key. */
  readonly twinKey: string | null;
  readonly resources: readonly string[] | null;
  readonly exclusive: readonly ExclusiveEffect[];
  readonly terms: KeptTerms;
}

export function keptOf(event: DecisionEvent): KeptDecision {
  if (event.type === "allowed") return keptAllowed(event);
  const { type, decisionId } = event;
  if (event.sealed === undefined)
    return { type, decisionId, decision: { ...event, arguments: "" } };
  const { sealed: _sealed, ...bare } = event;
  return { type, decisionId, decision: { ...bare, arguments: "" } };
}

function keptAllowed(event: CallAllowed): KeptAllowed {
  const { call, actionKey } = event;
  return {
    type: "allowed",
    decisionId: event.decisionId,
    agentId: event.agentId,
    actionKey: actionKey === event.argumentsDigest ? null : actionKey,
    atMs: event.atMs,
    occurrence: opensItsOwn(event) ? null : event.occurrence,
    twinKey: call.twinKey === actionKey ? null : call.twinKey,
    resources: call.resources,
    exclusive: call.exclusive,
    terms: keptTerms(event),
  };
}

function opensItsOwn({ occurrence, decisionId, proposalsAtMs }: CallAllowed): boolean {
  return (
    occurrence.attempt === 1 &&
    occurrence.openedAtMs === proposalsAtMs &&
    occurrence.decisionId === decisionId
  );
}

/** What a proposal brings along: with equal decision ids all of it is equal. */
export type Brought = Pick<
  DecisionBase,
  | "tenantId"
  | "conversationId"
  | "callId"
  | "turn"
  | "step"
  | "tool"
  | "arguments"
  | "argumentsDigest"
>;

/** The decision as it was made. */
export function recalled(kept: KeptDecision, brought: Brought): DecisionEvent {
  if (kept.type !== "allowed") return { ...kept.decision, arguments: brought.arguments };
  const { atMs, terms } = kept;
  const actionKey = kept.actionKey ?? brought.argumentsDigest;
  const proposalsAtMs = atMs + terms.proposalsAfter;
  return {
    type: "allowed",
    decisionId: kept.decisionId,
    tenantId: brought.tenantId,
    conversationId: brought.conversationId,
    callId: brought.callId,
    agentId: kept.agentId,
    turn: brought.turn,
    step: brought.step,
    tool: brought.tool,
    arguments: brought.arguments,
    argumentsDigest: brought.argumentsDigest,
    actionKey,
    atMs,
    proposalsAtMs,
    policy: terms.policy,
    tier: terms.tier,
    isRead: terms.isRead,
    warnings: terms.warnings,
    shadow: terms.shadow,
    fresh: terms.fresh,
    stateDropAtMs: atMs + terms.stateDropAfter,
    entersTurn: terms.entersTurn,
    confirmation: terms.confirmation,
    approvalId: terms.approvalId,
    approvedBy: terms.approvedBy,
    evicted: terms.evicted,
    keyId: terms.keyId,
    occurrence: kept.occurrence ?? {
      decisionId: kept.decisionId,
      openedAtMs: proposalsAtMs,
      attempt: 1,
    },
    notAfterMs: atMs + terms.notAfter,
    timeLimitMs: terms.timeLimitMs,
    idempotencyArgument: terms.idempotencyArgument,
    call: {
      twinKey: kept.twinKey ?? actionKey,
      resources: kept.resources,
      exclusive: kept.exclusive,
      windowUntilMs: atMs + terms.windowUntilAfter,
      dropAtMs: atMs + terms.dropAfter,
      ringSize: terms.ringSize,
      repeats: terms.repeats,
      rates: terms.rates,
      grant: terms.grant,
      more: terms.more,
    },
  };
}
