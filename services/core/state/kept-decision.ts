/**
 * A decision as it is kept to answer a redelivery: what the redelivered proposal does not bring
 * along. Thousands are kept of one conversation, so that each is one flat record: times after `atMs`
 * are kept as their distance from it, and what equals another member is null.
 */
import type {
  CallAllowed,
  CallHeld,
  CallRefused,
  DecisionBase,
  DecisionEvent,
  Evicted,
  ExclusiveEffect,
  Notice,
  Occurrence,
} from "../events.ts";

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
  readonly proposalsAfter: number;
  readonly policy: string;
  readonly tier: string | null;
  readonly isRead: boolean;
  readonly warnings: readonly Notice[];
  readonly shadow: readonly Notice[];
  readonly fresh: boolean;
  readonly stateDropAfter: number;
  readonly entersTurn: boolean;
  readonly confirmation: string | null;
  readonly approvalId: string | null;
  readonly approvedBy: readonly string[];
  readonly nameDropAfter: number;
  readonly evicted: Evicted | null;
  readonly keyId: string;
  /** Null: it opened its own, at the time of its proposal. */
  readonly occurrence: Occurrence | null;
  readonly notAfter: number;
  readonly timeLimitMs: number;
  readonly idempotencyArgument: string | null;
  /** Null: the action key. */
  readonly twinKey: string | null;
  readonly resources: readonly string[] | null;
  readonly exclusive: readonly ExclusiveEffect[];
  readonly windowUntilAfter: number;
  readonly dropAfter: number;
  readonly ringSize: number;
  readonly repeats: number;
  readonly rates: CallAllowed["call"]["rates"];
  readonly grant: CallAllowed["call"]["grant"];
  readonly more: CallAllowed["call"]["more"];
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
  const { atMs, call, actionKey } = event;
  return {
    type: "allowed",
    decisionId: event.decisionId,
    agentId: event.agentId,
    actionKey: actionKey === event.argumentsDigest ? null : actionKey,
    atMs,
    proposalsAfter: distance(atMs, event.proposalsAtMs),
    policy: event.policy,
    tier: event.tier,
    isRead: event.isRead,
    warnings: event.warnings,
    shadow: event.shadow,
    fresh: event.fresh,
    stateDropAfter: distance(atMs, event.stateDropAtMs),
    entersTurn: event.entersTurn,
    confirmation: event.confirmation,
    approvalId: event.approvalId,
    approvedBy: event.approvedBy,
    nameDropAfter: distance(atMs, event.nameDropAtMs),
    evicted: event.evicted,
    keyId: event.keyId,
    occurrence: opensItsOwn(event) ? null : event.occurrence,
    notAfter: distance(atMs, event.notAfterMs),
    timeLimitMs: event.timeLimitMs,
    idempotencyArgument: event.idempotencyArgument,
    twinKey: call.twinKey === actionKey ? null : call.twinKey,
    resources: call.resources,
    exclusive: call.exclusive,
    windowUntilAfter: distance(atMs, call.windowUntilMs),
    dropAfter: distance(atMs, call.dropAtMs),
    ringSize: call.ringSize,
    repeats: call.repeats,
    rates: call.rates,
    grant: call.grant,
    more: call.more,
  };
}

/** As a small integer where it is one: what comes of arithmetic with times would each be boxed. */
function distance(fromMs: number, toMs: number): number {
  const apart = toMs - fromMs;
  const small = apart | 0;
  return small === apart ? small : apart;
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
  const { atMs } = kept;
  const actionKey = kept.actionKey ?? brought.argumentsDigest;
  const proposalsAtMs = atMs + kept.proposalsAfter;
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
    policy: kept.policy,
    tier: kept.tier,
    isRead: kept.isRead,
    warnings: kept.warnings,
    shadow: kept.shadow,
    fresh: kept.fresh,
    stateDropAtMs: atMs + kept.stateDropAfter,
    entersTurn: kept.entersTurn,
    confirmation: kept.confirmation,
    approvalId: kept.approvalId,
    approvedBy: kept.approvedBy,
    nameDropAtMs: atMs + kept.nameDropAfter,
    evicted: kept.evicted,
    keyId: kept.keyId,
    occurrence: kept.occurrence ?? {
      decisionId: kept.decisionId,
      openedAtMs: proposalsAtMs,
      attempt: 1,
    },
    notAfterMs: atMs + kept.notAfter,
    timeLimitMs: kept.timeLimitMs,
    idempotencyArgument: kept.idempotencyArgument,
    call: {
      twinKey: kept.twinKey ?? actionKey,
      resources: kept.resources,
      exclusive: kept.exclusive,
      windowUntilMs: atMs + kept.windowUntilAfter,
      dropAtMs: atMs + kept.dropAfter,
      ringSize: kept.ringSize,
      repeats: kept.repeats,
      rates: kept.rates,
      grant: kept.grant,
      more: kept.more,
    },
  };
}
